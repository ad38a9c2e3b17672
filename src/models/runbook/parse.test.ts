import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linesOf } from './markdown.ts'
import { parseRunbook, type RunbookAction, type Parsed } from './parse.ts'

/** The actions in order, with what else matters, or the errors as `line code`. */
const brief = (parsed: Parsed): unknown =>
  parsed.ok
    ? [
        parsed.program.objective,
        ...parsed.program.steps.map(({ title, action }) => [title, action]),
      ]
    : parsed.errors.map(({ line, code }) => `${line} ${code}`)

const sh = (cmd: string): RunbookAction => ({ kind: 'sh', cmd })
const asked = (title: string): RunbookAction => ({
  kind: 'ask',
  question: `Is it done: ${title}?`,
  given: false,
})
const fenced = (body: string, mark = '```', language = 'sh') =>
  `${mark}${language}\n${body}\n${mark}`

describe('a runbook is read', () => {
  const cases: [name: string, text: string, expected: unknown][] = [
    [
      'with each kind of action',
      `# Ship it\n\nWhy.\n\n## Build\n\nMake it.\n\n${fenced('make\nmake test')}\n\n` +
        '## Settle\nwait: 1h30m\n\n## Approve\nask: Is it right?\n\n' +
        '## CI\ncallback: ci/build\n\n## Tell\n',
      [
        'Ship it',
        ['Build', sh('make\nmake test')],
        ['Settle', { kind: 'wait', ms: 5_400_000, written: '1h30m' }],
        ['Approve', { kind: 'ask', question: 'Is it right?', given: true }],
        ['CI', { kind: 'callback', name: 'ci/build' }],
        ['Tell', asked('Tell')],
      ],
    ],
    [
      'from top-level list items when no `##` is there',
      '# Go\n\n1. Build\n\n   ```bash\n   a\n     b\n   ```\n   - part one\n   - part two\n' +
        '2. wait: 500ms\n3. [ ] Look around\n',
      [
        'Go',
        ['Build', sh('a\n  b')],
        ['wait: 500ms', { kind: 'wait', ms: 500, written: '500ms' }],
        ['Look around', asked('Look around')],
      ],
    ],
    [
      'with CRLF line ends and a byte order mark',
      '\uFEFF# Go\r\n\r\n## One\r\n\r\n```sh\r\na\r\nb\r\n```\r\n',
      ['Go', ['One', sh('a\nb')]],
    ],
    ['with a tab in a command', '# Go\n## One\n```sh\n\tif\n```', ['Go', ['One', sh('\tif')]]],
    [
      'with underlined headings',
      'Go\nfar\n===\n\nOne\n---\n\n```sh\na\n```\n\n---\n\nend\n',
      ['Go far', ['One', sh('a')]],
    ],
    [
      'with closing marks on headings, and deeper headings as prose',
      '# Go #\n## One ##\n### wait\nask: Well?\n',
      ['Go', ['One', { kind: 'ask', question: 'Well?', given: true }]],
    ],
    [
      'without headings and actions that stand inside a fence',
      `# Go\n## One\n${fenced('## Two\nwait: 1s\n```sh\nno\n```', '~~~~', 'text')}\n`,
      ['Go', ['One', asked('One')]],
    ],
    [
      'with a longer fence around a shorter one',
      `# Go\n## One\n${fenced("cat <<'X'\n```sh\n# no\n```\nX", '````')}\n`,
      ['Go', ['One', sh("cat <<'X'\n```sh\n# no\n```\nX")]],
    ],
    [
      'with tilde fences, words behind the language, and other languages as prose',
      '# Go\n## One\n~~~ Shell title="x"\na ``` b\n~~~\n```json\n{}\n```\n',
      ['Go', ['One', sh('a ``` b')]],
    ],
    [
      'without what is commented out',
      '# Go\n<!-- ## Zero\nwait: 1s -->\n## One\n<!-- ask: no -->\nask: yes?\n',
      ['Go', ['One', { kind: 'ask', question: 'yes?', given: true }]],
    ],
    [
      'with actions inside lists of a step, and quotes and code as prose',
      '# Go\n## One\n> wait: 1s\n\n`ask: no`\n\n    wait: 2s\n\n- first\n  - ask: yes?\n',
      ['Go', ['One', { kind: 'ask', question: 'yes?', given: true }]],
    ],
    [
      'with a fence that is indented below a list item',
      '# Go\n## One\n- like this:\n\n  ```sh\n  a\n  ```\n',
      ['Go', ['One', sh('a')]],
    ],
    [
      'with lines in a fence that are indented less, as much, and more than it',
      '# Go\n## One\n   ```sh\nabcd\n bcd\n   cd\n     d\n\td\n\n   ```\n',
      ['Go', ['One', sh('abcd\nbcd\ncd\n  d\n d\n')]],
    ],
    ...['ask', 'callback'].map((kind): [string, string, unknown] => {
      const words = 'x'.repeat(kind === 'ask' ? 1_800 : 200)
      const action = kind === 'ask' ? { question: words, given: true } : { name: words }
      const read = ['Go', ['One', { kind, ...action }]]
      return [
        `with the words of ${kind} as long as they may be`,
        `# Go\n## One\n${kind}: ${words}`,
        read,
      ]
    }),
  ]
  for (const [name, text, expected] of cases) {
    test(name, () => assert.deepEqual(brief(parseRunbook(text)), expected))
  }

  test('with its prose, its place and whether it may fail', () => {
    const text = '# Go\n\nIntro.\n\n## Tell (Optional)\n\nCall *them*.\n- by phone\n\nask: Told?\n'
    assert.deepEqual(parseRunbook(text), {
      ok: true,
      program: {
        objective: 'Go',
        steps: [
          {
            title: 'Tell (Optional)',
            optional: true,
            line: 5,
            description: 'Call *them*.\nby phone',
            action: { kind: 'ask', question: 'Told?', given: true },
          },
        ],
      },
    })
  })
})

describe('a wait is', () => {
  const cases: [written: string, ms: number | null][] = [
    ['500ms', 500],
    ['2s', 2_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1d', 86_400_000],
    ['366d', 31_622_400_000],
    ['367d', null],
    ['0s', null],
    ['2', null],
    ['2 hours', null],
    ['30m1h', null],
    ['1m1m', null],
    ['1.5h', null],
    ['-1s', null],
    ['', null],
  ]
  for (const [written, ms] of cases) {
    test(`${written || 'nothing'}: ${ms === null ? 'refused' : `${ms} ms`}`, () => {
      const expected =
        ms === null ? ['3 bad_duration'] : ['Go', ['One', { kind: 'wait', ms, written }]]
      assert.deepEqual(brief(parseRunbook(`# Go\n## One\nwait: ${written}`)), expected)
    })
  }
})

describe('a text is refused, with the line,', () => {
  const cases: [name: string, text: string, expected: string[]][] = [
    ['when it is empty', '', ['1 no_objective', '1 no_steps']],
    ['when it is mere words', 'please look at the disk', ['1 no_objective', '1 no_steps']],
    ['when the objective is empty', '\n#\n\n## One\n', ['2 no_objective']],
    ['when it has no objective', '## One\nwait: 1s', ['1 no_objective']],
    ['when it has no steps', '# Go\n\nwords\n', ['1 no_steps']],
    ['when a step has no title', '# Go\n##\nwait: 1s\n', ['2 no_title']],
    [
      'when a step has two actions',
      `# Go\n## One\n${fenced('a')}\nwait: 1s\n## Two\nask: a\nask: b`,
      ['6 two_actions', '9 two_actions'],
    ],
    ['when a command is empty', `# Go\n## One\n${fenced('')}`, ['3 empty_action']],
    ['when a question is empty', '# Go\n## One\nask:\n', ['3 empty_action']],
    ['when a callback has no name', '# Go\n## One\ncallback:\n', ['3 empty_action']],
    ['when a callback has several names', '# Go\n## One\ncallback: a b\n', ['3 bad_name']],
    ['when an action stands before the steps', `# Go\n${fenced('a')}\n## One`, ['2 outside_step']],
    ['when an action stands outside the list', '# Go\n- One\n\nwait: 1s\n', ['4 outside_step']],
    ['when a fence never ends', '# Go\n## One\n```sh\na\n## Two\n', ['3 not_closed']],
    ['when it has a NUL', '# Go\n## One\n\0\nask: a', ['3 nul']],
    ['when the objective is too long', `# ${'x'.repeat(501)}\n## One`, ['1 over_limit']],
    ['when a title is too long', `# Go\n## ${'x'.repeat(301)}`, ['2 over_limit']],
    ['when a question is too long', `# Go\n## One\nask: ${'x'.repeat(1801)}`, ['3 over_limit']],
    ['when a name is too long', `# Go\n## One\ncallback: ${'x'.repeat(201)}`, ['3 bad_name']],
    ['when it has too many steps', `# Go\n${'## a\n'.repeat(101)}`, ['102 over_limit']],
    ['when it is too large', `# Go\n## One\n${'é'.repeat(32_768)}`, ['1 over_limit']],
  ]
  for (const [name, text, expected] of cases) {
    test(name, () => assert.deepEqual(brief(parseRunbook(text)), expected))
  }

  test('and says what to do', () => {
    const parsed = parseRunbook('# Go\n## One\n```sh\na\n```\nwait: soon\n')
    assert.deepEqual(parsed.ok ? [] : parsed.errors.map(({ message }) => message), [
      '"soon" is no duration: write 500ms, 2s, 5m, 1h30m or 2d.',
      'This step already has an action in line 3: one a step.',
    ])
  })
})

const lines =
  '# Go\n## One\n### Deep\n##\n===\n---\n```\n```sh\n~~~\n````\n- a\n  - b\n1. c\n10) d\n-\n' +
  '<!--\n-->\nwait: 2s\nwait: x\nask: q\nask:\ncallback: n\n    code\n\ttab\n> quote\n\n' +
  'words (optional)\n\uFEFF\n\0\n* * *'
const pieces = fc.constantFrom(...lines.split('\n'))
const ends = fc.constantFrom('\n', '\r\n', '\r')
const markdown = fc
  .array(fc.tuple(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 12 })), ends))
  .map((lines) => lines.map(([line, end]) => line + end).join(''))

test('any text is a program within the limits, or errors in lines that it has', () => {
  fc.assert(
    fc.property(fc.oneof(markdown, fc.string({ unit: 'binary' })), (text) => {
      const count = linesOf(text).length
      const parsed = parseRunbook(text)
      if (parsed.ok) {
        const { objective, steps } = parsed.program
        assert.ok(objective !== '' && steps.length > 0)
        for (const step of steps) assert.ok(step.title !== '' && step.line <= count)
      } else {
        assert.ok(parsed.errors.length > 0)
        for (const { line } of parsed.errors) assert.ok(line >= 1 && line <= count)
      }
    }),
    { numRuns: 3_000 },
  )
})

describe('a text of nothing but', () => {
  const cases: [piece: string, ok: boolean][] = [
    ['- ', true],
    ['1. ', true],
    ['> ', true],
    ['    ', true],
    ['<!--', true],
    ['# ', true],
    ['```sh\n', false],
  ]
  for (const [piece, ok] of cases) {
    test(`${JSON.stringify(piece)} is read like any other`, () => {
      const text = `# Go\n## One\n${piece.repeat(60_000 / piece.length)}`
      assert.equal(parseRunbook(text).ok, ok)
    })
  }
})
