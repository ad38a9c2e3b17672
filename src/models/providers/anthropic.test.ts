import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mark } from './anthropic.ts'

const roles = { s: 'system', u: 'user', a: 'assistant', t: 'tool' } as const

const prompt = (letters: string) =>
  letters.split('').map((letter) => ({ role: roles[letter as keyof typeof roles], content: [] }))

test('cache marks: system text, opening, newest message, and the one before the last answer', () => {
  const table: Readonly<Record<string, string>> = {
    s: 'S',
    su: 'SU',
    sua: 'SUA',
    suat: 'SUaT',
    suatu: 'SUatU',
    suatat: 'SUaTaT',
    suatatu: 'SUaTatU',
    u: 'U',
  }
  for (const [letters, expected] of Object.entries(table)) {
    const marked = mark(prompt(letters) as unknown as LanguageModelV4Prompt)
    const shown = marked.map(({ providerOptions }, at) => {
      const letter = letters[at] ?? ''
      return providerOptions === undefined ? letter : letter.toUpperCase()
    })
    assert.equal(shown.join(''), expected)
  }
})
