import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calledAs, type Invocation } from './called.ts'

const clone = '/src/holon'
const own = `${clone}/node_modules/.bin/holon`
/** Where npx keeps a link to the package of the folder it is called in. */
const kept = '/home/you/.npm/_npx/1/node_modules/.bin/holon'
/** Every link that there is, with its file. */
const links: Readonly<Record<string, string>> = {
  [own]: `${clone}/bin/holon.mjs`,
  [kept]: `${clone}/bin/holon.mjs`,
  [`${clone}/bin/holon.mjs`]: `${clone}/bin/holon.mjs`,
  '/usr/bin/holon': `${clone}/bin/holon.mjs`,
  '/opt/bin/holon': '/opt/lib/node_modules/holon/bin/holon.mjs',
  "/it's/holon": '/opt/lib/node_modules/holon/bin/holon.mjs',
  '/cache/node_modules/.bin/holon': '/cache/node_modules/holon/bin/holon.mjs',
  [`${clone}/src/main.ts`]: `${clone}/src/main.ts`,
}
const folders = [clone, `${clone}/docs`, '/src/holon-again', '/home/you']
const real = (path: string): string | null => links[path] ?? (folders.includes(path) ? path : null)

const inClone = {
  folder: clone,
  npm_command: 'exec',
  search: `${clone}/node_modules/.bin:/usr/bin`,
}
const outside = { folder: '/home/you', npm_command: undefined, search: '/bin:/usr/bin:/opt/bin' }

const rows: readonly (readonly [what: string, call: Omit<Invocation, 'real'>, called: string])[] = [
  ['by npx in the clone', { ...inClone, path: kept }, 'npx holon'],
  ['by a script of npm in the clone', { ...inClone, path: own }, 'npx holon'],
  ['by npx below it', { ...inClone, folder: `${clone}/docs`, path: own }, 'npx holon'],
  [
    'by npm for another folder',
    { ...inClone, folder: '/home/you', path: own, search: '/bin' },
    own,
  ],
  [
    'by npm from a folder whose name begins alike',
    { ...inClone, folder: '/src/holon-again', path: own, search: '/bin' },
    own,
  ],
  [
    'from what npx fetched elsewhere',
    { ...outside, npm_command: 'exec', path: '/cache/node_modules/.bin/holon' },
    '/cache/node_modules/.bin/holon',
  ],
  ['on PATH', { ...outside, path: '/usr/bin/holon' }, 'holon'],
  [
    'on PATH by its folder in the clone',
    { ...inClone, npm_command: undefined, path: own },
    'holon',
  ],
  [
    'by its path, where PATH finds the same',
    { ...outside, path: `${clone}/bin/holon.mjs` },
    'holon',
  ],
  ['where PATH finds another one first', { ...outside, path: '/opt/bin/holon' }, '/opt/bin/holon'],
  [
    'by its path alone',
    { ...outside, path: `${clone}/bin/holon.mjs`, search: '' },
    `${clone}/bin/holon.mjs`,
  ],
  [
    'by a path that a shell would take apart',
    { ...outside, path: "/it's/holon" },
    `'/it'\\''s/holon'`,
  ],
  ['from its sources', { ...inClone, path: `${clone}/src/main.ts` }, 'holon'],
  ['by nothing that is there', { ...outside, path: '' }, 'holon'],
]

for (const [what, call, called] of rows) {
  test(`called ${what}, it is ${called}`, () => {
    assert.equal(calledAs({ ...call, real }), called)
  })
}
