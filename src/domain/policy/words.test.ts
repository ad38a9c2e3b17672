/** Why something is asked, in words of what it does and never in those of a file of rules. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActionCommand, Area } from './action.ts'
import type { ActionPart, Because } from './part.ts'
import type { Otherwise } from './rule.ts'
import { whyOf } from './words.ts'

const command: ActionCommand = {
  argv: ['cp', 'a', { starts: '/', as: '~/x' }, { starts: '' }],
  program: { kind: 'absent' },
  cwd: null,
  env_names: [],
  redirects: [],
  wrapped_by: [],
  certain: true,
}
const mcp = { server: 'linear', tool: 'list', args_sha: '', pinned: true, read_only: true }

const parts: { readonly [K in keyof Otherwise]: ActionPart & { kind: K } } = {
  run: { kind: 'run', command },
  write: { kind: 'write', path: { op: 'write', real_path: '/tmp/x', area: 'outside' } },
  host: { kind: 'host', host: { name: 'example.org', port: 443 } },
  mcp: { kind: 'mcp', mcp },
}

/** What holds where no rule is about a part, and the reason: each setting that there is. */
const otherwise: { readonly [K in keyof Otherwise]: Readonly<Record<Otherwise[K], string>> } = {
  run: {
    allow: 'It would run cp a ~/x …: every command that no rule is about is free here.',
    ask: 'It would run cp a ~/x …: every command that no rule allows is asked about here.',
    deny: 'It would run cp a ~/x …: every command that no rule allows is refused here.',
    sandboxed: 'It would run cp a ~/x …, and nothing is confined here.',
  },
  write: {
    allow: 'It would write /tmp/x: every file that no rule is about is free here.',
    ask: 'It would write /tmp/x: every file that no rule allows is asked about here.',
    deny: 'It would write /tmp/x: every file that no rule allows is refused here.',
    workspace: 'It would write /tmp/x, which is outside of the workspace.',
  },
  host: {
    allow: 'It would reach example.org:443: every host that no rule is about is free here.',
    ask: 'It would reach example.org:443: every host that no rule allows is asked about here.',
    deny: 'It would reach example.org:443: every host that no rule allows is refused here.',
  },
  mcp: {
    allow: 'It would use linear/list: every tool of a server that no rule is about is free here.',
    ask: 'It would use linear/list: every tool of a server that no rule allows is asked about here.',
    deny: 'It would use linear/list: every tool of a server that no rule allows is refused here.',
  },
}

test('where no rule is about it, the reason says what it would do', () => {
  for (const [of, rows] of Object.entries(otherwise)) {
    const part = parts[of as keyof Otherwise]
    for (const [has, words] of Object.entries(rows)) {
      const decide = has === 'allow' || has === 'deny' ? has : 'ask'
      const because = { by: 'otherwise', of, has, decide } as Because
      assert.equal(whyOf(because, part), words)
      assert.doesNotMatch(words, /otherwise|write: workspace|sandboxed/)
    }
  }
  const confined = { by: 'otherwise', of: 'run', has: 'sandboxed', decide: 'allow' } as const
  assert.match(whyOf(confined, parts.run), /and it is confined here\.$/)
})

test('the place of a file is named, and one below ~ as the line has it', () => {
  const areas: Readonly<Record<Area, string>> = {
    workspace: 'in the workspace',
    own: "in the agent's own folder",
    records: "in the agent's own records",
    home: 'in the folder of Holon itself',
    git: 'in what git keeps of a repository',
    credentials: 'a place of credentials',
    outside: 'outside of the workspace',
  }
  const because = { by: 'otherwise', of: 'write', has: 'workspace', decide: 'ask' } as const
  for (const [area, words] of Object.entries(areas) as [Area, string][]) {
    const path = { op: 'write', real_path: '/…', area, as: '~/x' } as const
    assert.equal(whyOf(because, { kind: 'write', path }), `It would write ~/x, which is ${words}.`)
  }
})

test('a doubt names the part of the line that makes it', () => {
  const doubt = { by: 'doubt', doubt: 'runs_text', in_doubt: '$((e-s))' } as const
  assert.equal(whyOf(doubt, parts.run), '$((e-s)): it runs a text that comes from elsewhere.')
  assert.match(whyOf({ ...doubt, in_doubt: null }, parts.run), /^cp a ~\/x …: it runs a text/)
})
