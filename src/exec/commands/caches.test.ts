// Caches of package managers in a sandbox: where they can be written, and nothing else is changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCaches } from './caches.ts'

test('a cache that cannot be written is one of the agent, and what the operator said stays', () => {
  const home = { HOME: '/people/ada', PATH: '/bin' }
  const both = { XDG_CACHE_HOME: '/tmp/.cache', npm_config_cache: '/tmp/.npm' }
  const rows: [env: Record<string, string>, writable: string[], more: object][] = [
    [home, [], both],
    [home, ['/people/ada/.npm'], { XDG_CACHE_HOME: both.XDG_CACHE_HOME }],
    [home, ['/people/ada/'], {}],
    [home, ['/people/ada/.npmrc', '/people/a'], both],
    [{ ...home, XDG_CACHE_HOME: '/c' }, [], { npm_config_cache: both.npm_config_cache }],
    [{ PATH: '/bin' }, [], both],
  ]
  for (const [env, writable, more] of rows) {
    assert.deepEqual(withCaches(env, writable), { ...env, ...more })
  }
})
