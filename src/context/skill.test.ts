import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { catalogued, readSkill, type SkillFound } from './skill.ts'

const skill = (name: string, description: string) => ({ ok: true, name, description })
const wrong = (notice: string) => ({ ok: false, notice })
const file = (...lines: string[]) => ['---', ...lines, '---', '', '# How', 'Do it.'].join('\n')

/** What, the file, what is made of it. */
const readable: [string, string, object][] = [
  ['plain text', file('name: pdf', 'description: Reads PDFs.'), skill('pdf', 'Reads PDFs.')],
  [
    'a byte order mark and line ends of Windows',
    `\uFEFF${file('name: pdf', 'description: Reads.').replaceAll('\n', '\r\n')}`,
    skill('pdf', 'Reads.'),
  ],
  [
    'comments, a colon in plain text, and nothing behind the block',
    '---\n# mine\nname: pdf # short\ndescription: Use it: for PDFs # and so on\n---',
    skill('pdf', 'Use it: for PDFs'),
  ],
  [
    'quotes of both kinds with what is escaped in them',
    file('name: "p\\u0064f"', "description: 'It''s \"#1\": PDFs'"),
    skill('pdf', 'It\'s "#1": PDFs'),
  ],
  [
    'quoted and plain text over several lines',
    file('name: "pdf', '  tools"', 'description: Reads', '  PDFs', '', '  well.'),
    skill('pdf tools', 'Reads PDFs well.'),
  ],
  [
    'a folded block',
    file('name: pdf', 'description: >-', '  Reads', '  PDFs.', '', '  Well.', 'license: MIT'),
    skill('pdf', 'Reads PDFs. Well.'),
  ],
  [
    'a literal block with a mark of its indentation',
    file('description: |2+', '    Reads', '  PDFs.', '', 'name: pdf'),
    skill('pdf', 'Reads PDFs.'),
  ],
  [
    'unknown keys with whatever they hold, also twice',
    file(
      'name: pdf',
      'metadata:',
      '  author: { a: [1, 2] }',
      '  name: other',
      'allowed-tools:',
      '- Read',
      '- Bash(git:*)',
      'x: &anchor *broken [',
      'x: !tag',
      'description: Reads.',
    ),
    skill('pdf', 'Reads.'),
  ],
  ['a key in quotes', file('"name": pdf', "'description': Reads."), skill('pdf', 'Reads.')],
  ['the other mark of the end', '---\nname: a\ndescription: b\n...\n', skill('a', 'b')],
  ['words of another type are text', file('name: 12', 'description: true'), skill('12', 'true')],
]

const noHead = wrong('it does not begin with a line "---" and the keys of a skill below it')

const broken: [string, string, object][] = [
  ['nothing at all', '', noHead],
  ['no block at its head', '# How\n\n---\nname: a\n---\n', noHead],
  ['an empty line before it', `\n${file('name: a', 'description: b')}`, noHead],
  ['no end', '---\nname: a\n', wrong('the block of keys at its head has no line "---" at its end')],
  ['an empty block', '---\n---\n', wrong('it has no "name"')],
  ['no name', file('description: b'), wrong('it has no "name"')],
  ['an empty name', file('name:', 'description: b'), wrong('it has no "name"')],
  ['a name that is null', file('name: null', 'description: b'), wrong('it has no "name"')],
  ['no description', file('name: a', 'description: ""'), wrong('it has no "description"')],
  [
    'a name twice',
    file('name: a', 'description: b', 'name: c'),
    wrong('it says "name" twice, again in line 4'),
  ],
  [
    'a name without end',
    file(`name: ${'a'.repeat(65)}`, 'description: b'),
    wrong('its "name" has 65 characters, over 64'),
  ],
  [
    'a list in the place of a text',
    file('name: a', 'description:', '- b'),
    wrong('"description" in line 3 is a list where a text belongs'),
  ],
  [
    'a list in brackets',
    file('name: [a]', 'description: b'),
    wrong('"name" in line 2 is no text: write it in double quotes'),
  ],
  [
    'an alias',
    file('name: *a', 'description: b'),
    wrong('"name" in line 2 is no text: write it in double quotes'),
  ],
  [
    'keys in the place of a text',
    file('name:', '  first: a', 'description: b'),
    wrong('"name" in line 2 has keys of its own where a text belongs'),
  ],
  [
    'a quote that stays open',
    file('name: "a', 'description: b'),
    wrong('"name" in line 2 has a quotation mark that is not closed'),
  ],
  [
    'words behind a quote',
    file("name: 'a' b", 'description: b'),
    wrong('"name" in line 2 has a quotation mark that is not closed'),
  ],
  [
    'an escape that means nothing',
    file('name: "a\\q"', 'description: b'),
    wrong('"name" in line 2 has an unknown escape after a backslash'),
  ],
  [
    'a block with words in its first line',
    file('name: a', 'description: > b'),
    wrong('"description" in line 3 begins with >, and then no block'),
  ],
  ['a line that is no key', file('name: a', 'words'), wrong('line 3 is no "key: value"')],
  ['a key without a space behind', file('name:a'), wrong('line 2 is no "key: value"')],
  [
    'a block without measure',
    file('name: a', `description: ${'b'.repeat(20_000)}`),
    wrong('the block of keys at its head has 20022 characters, over 16384'),
  ],
]

describe('the head of a SKILL.md', () => {
  for (const [what, text, expected] of [...readable, ...broken]) {
    test(what, () => assert.deepEqual(readSkill(text), expected))
  }
})

const found = (path: string, name: string): SkillFound => ({
  ok: true,
  path,
  bytes: 40,
  real_path: path,
  text: file(`name: ${name}`, 'description: b'),
})
const offered = (path: string, name: string) => ({
  state: 'offered',
  path,
  bytes: 40,
  name,
  description: 'b',
})

test('the nearest skill of a name is offered, and a second one of one place is a mistake', () => {
  const skills = catalogued([
    [found('/own/a', 'one'), found('/own/b', 'one'), found('/own/c', 'two')],
    [found('/work/a', 'two'), found('/work/b', 'three')],
    [{ ok: false, path: '/far/x', bytes: null, notice: 'it is a folder' }],
  ])
  assert.deepEqual(skills, [
    offered('/own/a', 'one'),
    { state: 'unusable', path: '/own/b', bytes: 40, notice: '/own/a has the name "one" already' },
    offered('/own/c', 'two'),
    { state: 'hidden', path: '/work/a', bytes: 40, name: 'two', by: '/own/c' },
    offered('/work/b', 'three'),
    { state: 'unusable', path: '/far/x', bytes: null, notice: 'it is a folder' },
  ])
})

test('a file that is reached by two ways is told of once', () => {
  const again = { ...found('/link/a', 'one'), real_path: '/own/a' } as SkillFound
  const bad: SkillFound = { ok: true, path: '/own/b', bytes: 2, real_path: '/own/b', text: 'no' }
  const skills = catalogued([
    [found('/own/a', 'one'), bad],
    [again, { ...bad, path: '/link/b' }],
  ])
  assert.deepEqual(
    skills.map(({ state, path }) => [state, path]),
    [
      ['offered', '/own/a'],
      ['unusable', '/own/b'],
      ['hidden', '/link/a'],
    ],
  )
})

test('any text at all is a skill of two single lines, or one notice', () => {
  const piece = fc.constantFrom(
    '---\n',
    'name: ',
    'description: ',
    '"',
    "'",
    '|\n',
    '>-\n',
    '  ',
    '\n',
  )
  const texts = fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 8 })), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(texts, (parts) => {
      const read = readSkill(`---\n${parts.join('')}\n---\n`)
      const lines = read.ok ? [read.name, read.description] : [read.notice]
      for (const line of lines) assert.match(line, /^[^\r\n\u2028\u2029]+$/)
    }),
    { numRuns: 2_000 },
  )
})
