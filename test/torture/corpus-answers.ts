/** Answers that are whole on the wire and wrong in themselves: calls, arguments, ids, words. */
import type { Endpoint, ServerAnswer } from '../../src/testing/model-server/server.ts'
import type { Case, Fate } from './cases.ts'
import { framesOf, touch } from './corpus-frames.ts'

const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`

/** Arguments as the bytes they are; none of them may run anything. */
const badArguments: readonly [string, string][] = [
  ['no arguments', ''],
  ['blank arguments', '  '],
  ['half of them', '{"cmd":"touch ran'],
  ['two objects', '{"cmd":"touch ran"}{"cmd":"touch ran"}'],
  ['a trailing comma', '{"cmd":"touch ran",}'],
  ['single quotes', "{'cmd':'touch ran'}"],
  ['a comment', '{"cmd":"touch ran"}//'],
  ['NaN', '{"cmd":NaN}'],
  ['a list', '["touch ran"]'],
  ['a text', '"touch ran"'],
  ['null', 'null'],
  ['a deep list', deep],
  ['a deep field', `{"cmd":${deep}}`],
  ['a number for a text', '{"cmd":7}'],
  ['a huge number', '{"cmd":"touch ran","yield_ms":1e400}'],
  ['a negative pause', '{"cmd":"touch ran","yield_ms":-1}'],
  ['another field', '{"cmd":"touch ran","shell":"zsh"}'],
  ['no field', '{}'],
  ['a lone surrogate for a name', '{"\\ud800":"touch ran"}'],
  ['a NUL in the command', '{"cmd":"touch ran\\u0000"}'],
  ['an empty command', '{"cmd":""}'],
]

/**
 * The same frames with other arguments. Google sends them as an object, so only some can be said.
 */
function withArguments(endpoint: Endpoint, text: string): string[] | null {
  const mark = 'ARGUMENTS-STAND-HERE'
  const calls = [{ name: 'ExecCommand', input: mark }]
  const frames = framesOf(endpoint, { calls }).join('')
  if (endpoint === 'google') {
    try {
      JSON.parse(text)
    } catch {
      return null
    }
    return [frames.replaceAll(JSON.stringify(mark), () => text)]
  }
  // The arguments are a text in a text, in two pieces on the way and whole at the end.
  const inner = JSON.stringify(JSON.stringify(mark)).slice(1, -1)
  const cut = Math.ceil(JSON.stringify(mark).length / 2)
  const pieces = [JSON.stringify(mark).slice(0, cut), JSON.stringify(mark).slice(cut)]
  const middle = Math.ceil(text.length / 2)
  const said = (part: string) => JSON.stringify(part)
  return [
    frames
      .replaceAll(`"${inner}"`, () => said(text))
      .replaceAll(JSON.stringify(pieces[0]), () => said(text.slice(0, middle)))
      .replaceAll(JSON.stringify(pieces[1]), () => said(text.slice(middle))),
  ]
}

const names = [
  '',
  ' ',
  'LaunchRocket',
  'execcommand',
  'Exec Command',
  '__proto__',
  'constructor',
  '🌍',
]

export function answerCases(endpoint: Endpoint): Case[] {
  const says = (what: string, fate: Fate, answer: ServerAnswer, runs: string[] = []): Case => ({
    says: what,
    fate,
    runs,
    served: { body: framesOf(endpoint, answer) },
  })
  const [one, two] = [touch('one'), touch('two')]
  const broken: ServerAnswer = { calls: [one, two], fault: 'broken_json' }
  const many = Array.from({ length: 40 }, () => ({ name: 'ListTasks', input: {} }))
  return [
    ...badArguments.flatMap(([what, text]): Case[] => {
      const body = withArguments(endpoint, text)
      return body === null ? [] : [{ says: `arguments: ${what}`, fate: 'any', served: { body } }]
    }),
    ...names.map((name) =>
      says(`a tool called "${name}"`, 'any', { calls: [{ name, input: { cmd: 'touch ran' } }] }),
    ),
    {
      ...says('broken JSON beside a sound call', 'any', broken, ['two']),
      // On Google's wire arguments are an object of the frame: they cannot be broken alone.
      only: ['chat_completions', 'responses', 'messages'],
    },
    says('ids that come twice', 'any', { calls: [one, two], fault: 'duplicate_ids' }, [
      'one',
      'two',
    ]),
    says('ids that are missing', 'any', { calls: [one, two], fault: 'missing_ids' }, [
      'one',
      'two',
    ]),
    says('forty calls', 'whole', { calls: many }),
    says('cut by its length', 'any', { text: 'Half', calls: [one], finish: 'length' }, ['one']),
    says('filtered', 'any', { text: 'Half', calls: [one], finish: 'content_filter' }, ['one']),
    says('an empty text', 'any', { text: '' }),
    says('nothing but a thought', 'any', { reasoning: 'Hm.' }),
    says('blank text', 'any', { text: ' \n\t ' }),
    says('controls and marks of direction', 'whole', {
      text: '\u0007\u001b[2J\u202e\u200b\u0000.',
    }),
    says('lone surrogates', 'whole', { text: 'a\ud800b\udc00c' }),
    says('words that look like the wire', 'whole', { text: 'data: [DONE]\n\nevent: error\n\n{}' }),
    says('usage that is nonsense', 'whole', {
      text: 'Hm.',
      usage: { input_tokens: -5, output_tokens: Number.MAX_SAFE_INTEGER, reasoning_tokens: 0.5 },
    }),
    { says: 'bytes that are no UTF-8', fate: 'any', served: { body: noUtf8(endpoint) } },
  ]
}

/** The answer with bytes in its text that no character has. */
function noUtf8(endpoint: Endpoint): Uint8Array[] {
  const text = framesOf(endpoint, { text: 'HERE and HERE.' }).join('')
  const bytes = Buffer.from(text.replaceAll('HE', '\u00ff\u00fe'), 'latin1')
  return [bytes]
}
