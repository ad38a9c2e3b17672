/**
 * What ails the secrets of a home, for `holon doctor`: files that others can read, registered
 * secrets that cannot be read, files of webhooks that are missing or hold no secret. Nothing of a
 * secret is in a message.
 */
import { checkPrivate } from '../../exec/files/private-files.ts'
import type { Config } from '../../protocol/config.ts'
import { secretPaths, unreadableSecrets } from '../homes/secrets.ts'
import { secretsIn } from '../serve/webhook-secrets.ts'

type Problem = { message: string; hint: string }

/** The mode of the home's own folder is told elsewhere. */
export async function secretProblems(home: string, config: Config): Promise<Problem[]> {
  const open = (await checkPrivate(home, secretPaths(config))).filter(({ path }) => path !== home)
  const webhooks = await Promise.all(
    Object.entries(config.webhooks ?? {}).map(async ([name, webhook]) => {
      const { problems } = await secretsIn(webhook)
      return problems.map(({ message, hint }) => {
        return { message: `webhook ${name}: ${message}`, hint }
      })
    }),
  )
  // A file that others can read is one problem, whoever looks at it.
  const told = open.map(({ message }) => message)
  const others = webhooks.flat().filter(({ message }) => !told.some((one) => message.endsWith(one)))
  const unreadable = await unreadableSecrets(config)
  return [...open, ...unreadable, ...others].map(({ message, hint }) => ({ message, hint }))
}
