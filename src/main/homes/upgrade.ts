/** Says on standard error what an upgrade of a home means, before it begins. */
import type { Upgrade } from '../../ledger/store/open.ts'

export const sayUpgrade = ({ from, to, copy }: Upgrade): void => {
  process.stderr.write(
    `This home was written by an earlier holon (schema ${from}). It is upgraded to schema ${to} ` +
      `now; the earlier holon cannot open it any more. The ledger as it was is kept in ${copy}; ` +
      'delete it when you are sure.\n',
  )
}
