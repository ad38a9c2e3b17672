import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calledAs, type Invocation } from './called.ts'

const clone = '/src/holon'
/** Every link that there is, with its file. */
const links: Readonly<Record<string, string>> = {
  [`${clone}/node_modules/.bin/holon`]: `${clone}/bin/holon`,
  [`${clone}/bin/holon`]: `${clone}/bin/holon`,
  [`${clone}/bin/holon.mjs`]: `${clone}/bin/holon.mjs`,
  '/usr/bin/holon': `${clone}/bin/holon`,
  '/linked/holon.mjs': `${clone}/bin/holon.mjs`,
  '/opt/bin/holon': '/opt/lib/node_modules/holon/bin/holon',
  '/opt/lib/node_modules/holon/bin/holon.mjs': '/opt/lib/node_modules/holon/bin/holon.mjs',
  "/it's/bin/holon.mjs": "/it's/bin/holon.mjs",
  [`${clone}/src/main.ts`]: `${clone}/src/main.ts`,
}
const folders = [clone, `${clone}/docs`, '/src/holon-again', '/home/you']
const real = (path: string): string | null => links[path] ?? (folders.includes(path) ? path : null)

const path = `${clone}/bin/holon.mjs`
const search = `${clone}/node_modules/.bin:/usr/bin`
const inClone = { path, folder: clone, npm_command: 'exec', search }
const outside = { path, folder: '/home/you', npm_command: undefined, search: '/bin:/usr/bin' }

const rows: readonly (readonly [what: string, call: Omit<Invocation, 'real'>, called: string])[] = [
  ['by npx in the clone', inClone, 'npx holon'],
  ['by npx below it', { ...inClone, folder: `${clone}/docs` }, 'npx holon'],
  ['by npm for another folder', { ...inClone, folder: '/home/you' }, 'holon'],
  [
    'by npm from a folder whose name begins alike',
    { ...inClone, folder: '/src/holon-again', search: '/bin' },
    `${clone}/bin/holon`,
  ],
  [
    'from what npx fetched elsewhere',
    { ...outside, npm_command: 'exec', path: '/opt/lib/node_modules/holon/bin/holon.mjs' },
    '/opt/lib/node_modules/holon/bin/holon',
  ],
  ['on PATH', outside, 'holon'],
  ['on PATH, its script by a link', { ...outside, path: '/linked/holon.mjs' }, 'holon'],
  ['on PATH by its folder in the clone', { ...inClone, npm_command: undefined }, 'holon'],
  [
    'where PATH finds another one first',
    { ...outside, search: '/opt/bin:/usr/bin' },
    `${clone}/bin/holon`,
  ],
  ['where PATH has none', { ...outside, search: '' }, `${clone}/bin/holon`],
  [
    'by a path that a shell would take apart',
    { ...outside, path: "/it's/bin/holon.mjs" },
    String.raw`'/it'\''s/bin/holon'`,
  ],
  ['from its sources', { ...inClone, path: `${clone}/src/main.ts` }, 'holon'],
  ['by nothing that is there', { ...outside, path: '' }, 'holon'],
]

for (const [what, call, called] of rows) {
  test(`called ${what}, it is ${called}`, () => {
    assert.equal(calledAs({ ...call, real }), called)
  })
}
