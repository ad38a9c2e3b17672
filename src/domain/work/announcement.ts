/**
 * Sentences that announce what their author is about to do. A table of openings by language; one
 * that is not in it is taken for what it says.
 */

/** What may stand before an opening: `OK, now`, `So,`, `Alors,`. */
const lead =
  '(?:(?:ok|okay|great|good|perfect|alright|all right|so|and|then|finally|done|gut|also|super|' +
  'bien|bon|alors|parfait|entonces|bueno|perfecto|listo|好的?|那么)[\\s,.:;!–—-]+)*'

/** Where a word ends, in any script. */
const end = '(?![\\p{L}\\p{N}])'

/** Openings of such sentences, by language. Each is a whole word or more. */
export const openings = {
  english: [
    "(?:now |next |then |first )?(?:i will|i'll|i shall|i am going to|i'm going to)",
    "(?:now |next |then )?(?:i am about to|i'm about to|let me|let us|let's|allow me to)",
    '(?:now|next|then) i',
    "(?:next|now|then),? (?:i'm|i am|going to|comes|up)",
    '(?:going|proceeding|moving on|about|time) to',
    '(?:marking|completing|closing|finalizing|finalising|finishing) (?:it|this|the|everything|up)',
  ],
  german: [
    '(?:ich werde|ich will|ich möchte|lass mich|lassen sie mich|lasst uns|lass uns)',
    '(?:jetzt|nun|als nächstes|anschließend|dann|danach|zuletzt|gleich|hiermit) ' +
      '(?:werde|will|möchte|schließe|markiere|setze|beende|mache|stelle) ich',
    'ich (?:schließe|markiere|setze|beende|mache|stelle) (?:\\p{L}+ )*?' +
      '(?:jetzt|nun|gleich|anschließend)',
  ],
  french: [
    "(?:maintenant,? |ensuite,? |puis,? )?(?:je vais|je m'apprête à|laissez[- ]moi|laisse[- ]moi)",
    '(?:maintenant,? |ensuite,? |puis,? )?(?:permettez[- ]moi|nous allons)',
    '(?:maintenant|ensuite|puis),? je',
    'je (?:\\p{L}+ )?(?:marque|termine|finalise|clôture|complète) (?:maintenant|donc)',
  ],
  spanish: [
    '(?:ahora,? |luego,? |a continuación,? )?(?:voy a|vamos a|déjame|déjeme|permíteme|permítame)',
    '(?:ahora|a continuación|luego|enseguida),? (?:lo|la|los|las|te|le|procedo|procederé|marco|' +
      'marcaré|completo|completaré|finalizo|finalizaré|cierro|cerraré|termino|terminaré)',
    '(?:procedo|procederé) a',
  ],
  chinese: [
    '(?:现在|現在|接下来|接下來|下面|然后|然後|最后|最後)?,?(?:，)?' +
      '(?:我将|我將|我会|我會|我要|我来|我來|我马上|我馬上|我这就|我現在|我现在|让我|讓我)',
    '(?:现在|現在|接下来|接下來|下面)(?:，)?(?:将|將|把|开始|開始)',
  ],
  japanese: [
    '(?:これから|今から|それでは|では|次に|最後に|続いて)(?=.*(?:ます|ましょう|る|う)[。！!]?$)',
    '(?=.*(?:完了|終了|クローズ|マーク|締め)(?:に|と)?(?:します|いたします|しましょう|する予定です)[。！!]?$)',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Letters without spaces between words end nowhere: `我将完成`. */
const unspaced: ReadonlySet<string> = new Set(['chinese', 'japanese'])

const patterns = Object.entries(openings).map(([language, list]) => {
  const one = `(?:${list.join('|')})${unspaced.has(language) ? '' : end}`
  return new RegExp(`^["'“„«(]*${lead}${one}`, 'iu')
})

/** Words of finishing, in the same languages. */
const finishing = new RegExp(
  [
    'complet|finish|finali[sz]|\\bmark|\\bclos(?:e|ing)|wrap',
    'abschlie|abgeschlossen|fertig|erledigt|beende|markiere',
    'termin|clôtur|achèv|marqu|complèt',
    'cerr|cierr|conclu|\\bmarc',
    '完成|完了|结束|結束|关闭|關閉|标记|標記',
    '終了|マーク|クローズ|締め',
  ].join('|'),
  'iu',
)

const plain = (sentence: string): string =>
  sentence.normalize('NFC').replaceAll('’', "'").replace(/\s+/gu, ' ').trim()

/** Whether the sentence says what is still to come. */
export const announces = (sentence: string): boolean =>
  patterns.some((pattern) => pattern.test(plain(sentence)))

/** Whether it speaks of finishing something. */
export const announcesEnd = (sentence: string): boolean => finishing.test(sentence)

/** A dot inside a number or a name ends none; a line does. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?…]["')\]]*)\s+|(?<=[。！？]["'」』）)]*)(?=\S)|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
