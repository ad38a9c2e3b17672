import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { openings } from './announcement.ts'
import { betterReport, isReport, judgeReport, mayStand, type ReportVerdict } from './report.ts'

const long = `The parser keeps comments now. ${'It was run on every file of the corpus. '.repeat(6)}`

const rows: readonly [text: string, expect: ReportVerdict][] = [
  ['', 'nothing'],
  [' \n\t ', 'nothing'],
  ['Here is what I did:', 'colon'],
  ['First line.\nThe changes are:  \n', 'colon'],
  ['結果は次のとおりです：', 'colon'],
  ['Done.', 'short'],
  ['ok', 'short'],
  ['All 450 tests pass on 3f9c2e1.', 'short'],
  ['Both are done: X1 and X2 work.', 'short'],
  [long, 'whole'],
  [`It is a sentence of more than two hundred characters${', and so on'.repeat(20)}`, 'whole'],
  ['Fixed the parser; all tests pass. Nothing is left.', 'whole'],
  ['The cache is gone\nThe tests pass', 'whole'],
  // Words about what is still to come belong to a report, unless they are all of it.
  ['I will not touch the cache again. The tests pass.', 'whole'],
  ["Fixed the parser; tests pass. I'll watch the nightly run.", 'whole'],
  [`${long}I will mark it complete now.`, 'whole'],
  // An opening is a whole word.
  ['I willingly left the flag in place.', 'short'],
  ['Let men decide.', 'short'],
  ['Now Ireland is in the list.', 'short'],
  ['The announcement "I will do it" is gone.', 'short'],
  // A dot inside a number or a name does not end a sentence.
  ['I will release 2.4.0 from main.ts now.', 'announcement'],
]

/** At least one sentence of each language, in several tones; and reports that look alike. */
const said: Readonly<Record<keyof typeof openings, { announced: string[]; reports: string[] }>> = {
  english: {
    announced: [
      'I will complete the item now.',
      "I'll complete it.",
      'I’ll complete it.',
      '  let me close this.',
      'Now I mark it as done!',
      "Next I'm going to finalize everything and mark it as complete",
      'Everything is in. Let me mark it complete.',
      'All tests pass. Now I will complete the work item.',
      'Great, let me wrap this up.',
      'Marking this as complete now.',
      "Okay. I'm about to close the item.",
    ],
    reports: ['Now all tests pass.', 'Letters are sorted.', 'The item was marked complete.'],
  },
  german: {
    announced: [
      'Ich werde das jetzt abschließen',
      'Jetzt schließe ich die Aufgabe ab.',
      'Ich schließe das jetzt ab.',
      'Lass mich das noch abschließen!',
      'Alles ist drin. Ich werde es nun als erledigt markieren.',
      'Als Nächstes werde ich alles abschließen.',
    ],
    reports: ['Jetzt laufen alle Tests.', 'Ich habe das abgeschlossen.', 'Erledigt: ichor.txt.'],
  },
  french: {
    announced: [
      'Je vais maintenant terminer cette tâche.',
      'Laissez-moi clôturer l’élément.',
      'Tout est en place. Je vais le marquer comme terminé.',
      'Maintenant, je termine.',
    ],
    reports: ['Tous les tests passent maintenant.', 'J’ai terminé la tâche.'],
  },
  spanish: {
    announced: [
      'Voy a completar la tarea.',
      'Ahora marco la tarea como completada.',
      'Todo está listo. Déjame cerrarlo.',
      'Procedo a finalizar el elemento.',
    ],
    reports: ['Ahora todo funciona.', 'He completado la tarea.'],
  },
  chinese: {
    announced: [
      '我将完成这个任务。',
      '现在我来标记为完成',
      '全部就绪。让我把它标记为完成。',
      '接下来，我会结束它。',
    ],
    reports: ['所有测试都通过了。', '我已经完成了任务。'],
  },
  japanese: {
    announced: [
      'これから完了にします。',
      'では、マークします',
      'すべて揃いました。完了にします。',
      '次に作業を終了します。',
    ],
    reports: ['テストはすべて通ります。', '作業を完了しました。'],
  },
}

test('words beside a completion are a report, a short one, an announcement, or none', () => {
  for (const [text, expect] of rows) assert.equal(judgeReport(text), expect, text)
})

for (const [language, { announced, reports }] of Object.entries(said)) {
  test(`an announcement in ${language} is no report; what looks like one is`, () => {
    for (const text of announced) assert.equal(judgeReport(text), 'announcement', text)
    for (const text of reports) assert.equal(isReport(text), true, text)
  })
}

test('without an answer short words stand, and an announcement does not', () => {
  const table: readonly [text: string, stands: boolean][] = [
    ['Done.', true],
    ['Here is what I did:', true],
    [long, true],
    ['Let me close this.', false],
    ['', false],
  ]
  for (const [text, stands] of table) assert.equal(mayStand(text), stands, text)
})

test('the longer of the words and the answer is the report', () => {
  const table: readonly [text: string, answer: string, report: string | null][] = [
    ['Done.', 'The parser keeps comments.', 'The parser keeps comments.'],
    ['The parser keeps comments.', 'Done.', 'The parser keeps comments.'],
    ['Done.', ' ', 'Done.'],
    ['Done.', 'Let me write the report in full now.', 'Done.'],
    ['The changes are:', '', 'The changes are:'],
    ['Let me close this.', 'Closed.', 'Closed.'],
    ['Let me close this.', '', null],
    ['', 'It is done.', 'It is done.'],
    ['', 'Let me close this.', null],
    ['', '', null],
  ]
  for (const [text, answer, report] of table) {
    assert.equal(betterReport(text, answer), report, `${text} / ${answer}`)
  }
})
