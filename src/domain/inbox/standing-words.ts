/**
 * Words of a person that hold beyond the moment, and words that only nod. A table of phrases by
 * language, in the few that it knows. It settles what gives way first where not all that was said
 * has room; it grants nothing and forbids nothing, so a phrase that is missing costs room only.
 */

/** Phrases that say: from now on. Each is a whole word or more. */
export const standing = {
  english: [
    'always|never|ever again|from (?:now|here|today) on|from now|in (?:the )?future|in general',
    "remember|keep in mind|(?:do not|don't) (?:ever|forget)|bear in mind|as a (?:rule|principle)",
    '(?:each|every|any) ?time|whenever|at all times|(?:under )?no circumstances|without exception',
    'until further notice|until i (?:say|tell)|unless i (?:say|tell|ask)',
    'permanently|stays? as (?:it|they)',
    "(?:must|may|shall|should) (?:not|never|always)|mustn't|no \\p{L}+ (?:at all|ever)",
  ],
  german: [
    'immer|nie|niemals|nie wieder|stets|grundsätzlich|ab (?:jetzt|sofort|heute|nun)|von nun an',
    'künftig|zukünftig|in zukunft|jedes mal|jedesmal|merk(?:e)? dir|merken sie sich|vergiss nicht',
    'denk(?:e)? (?:immer )?daran|bis auf weiteres|auf keinen fall|unter keinen umständen|dauerhaft',
    'ausnahmslos|darf(?:st)? (?:\\p{L}+ )?nicht|bleibt? (?:so )?wie',
  ],
  french: [
    "toujours|jamais|désormais|dorénavant|à partir de maintenant|à l'avenir|chaque fois",
    "souviens[- ]toi|rappelle[- ]toi|retiens|n'oublie(?:z)? pas|en aucun cas|jusqu'à nouvel ordre",
  ],
  spanish: [
    'siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en (?:el )?futuro|cada vez',
    'recuerda|recuerde|ten en cuenta|no olvides|bajo ninguna circunstancia|hasta nuevo aviso',
  ],
  chinese: [
    '永远|永遠|从不|從不|总是|總是|始终|始終|从现在起|從現在起|今后|今後',
    '以后|以後|记住|記住|记得|記得|绝不|絕不|每次',
  ],
  japanese: ['常に|必ず|決して|今後|これからは|いつも|毎回|覚えて|忘れないで|二度と'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Words of which a nod is made, with numbers of choices, and nothing else. */
export const nods = {
  english:
    'ok|okay|yes|yep|yeah|no|go|on|ahead|do|it|that|continue|proceed|please|thanks|thank|you|' +
    'great|good|nice|fine|perfect|cool|sure|right|well|done|so|and|now|then|the|first|second|one|' +
    'sounds|carry|keep|going|looks|lgtm|is',
  german:
    'ja|nein|gut|super|prima|danke|bitte|weiter|mach|los|passt|genau|klar|alles|schön|dann|so|und',
  french: "oui|non|merci|continue|continuez|vas-y|allez-y|parfait|bien|bon|super|d'accord|très",
  spanish: 'sí|si|no|gracias|sigue|siga|adelante|continúa|perfecto|bien|vale|muy|bueno|claro',
  chinese: '好|好的|是|是的|对|對|继续|繼續|谢谢|謝謝|可以|行|嗯',
  japanese:
    'はい|いいえ|続けて|続けてください|お願いします|ありがとう|ありがとうございます|了解|いいね',
} as const satisfies Readonly<Record<string, string>>

/** Letters without spaces between words end nowhere: `以后不要`. */
const unspaced: ReadonlySet<string> = new Set(['chinese', 'japanese'])

const patterns = Object.entries(standing).map(([language, list]) => {
  const one = `(?:${list.join('|')})`
  return new RegExp(
    unspaced.has(language) ? one : `(?<![\\p{L}\\p{N}])${one}(?![\\p{L}\\p{N}])`,
    'iu',
  )
})

const nod = new RegExp(`^(?:(?:${Object.values(nods).join('|')})[\\s\\p{P}\\p{S}\\p{N}]*)+$`, 'iu')

/** A longer one says more than a nod. */
const longestNod = 40

const plain = (words: string): string =>
  words.normalize('NFC').replaceAll('’', "'").replace(/\s+/gu, ' ').trim()

/** Whether what they say may hold for work to come. */
export const isStanding = (words: string): boolean => {
  const text = plain(words)
  return patterns.some((pattern) => pattern.test(text))
}

/** Whether they only tell to go on, or thank. */
export const isNod = (words: string): boolean => {
  const text = plain(words)
  return text.length <= longestNod && nod.test(text)
}
