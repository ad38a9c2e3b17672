/** Limits of reading web pages: name, number, unit, reason. */

/** Bytes of one page, unpacked: more is data, for a command. */
export const PAGE_BYTES = 5 * 1024 * 1024
/** Characters of an address, as one that a page redirects to may be: longer ones carry data. */
export const PAGE_URL_CHARS = 2_000
/** Redirects followed, each checked anew: login loops have no end. */
export const PAGE_REDIRECTS = 5
/** Milliseconds for one page, from the look-up of its name to its text. */
export const PAGE_MS = 20_000
/** Milliseconds more before the program that reads it is killed: it answers by itself before. */
export const PAGE_GRACE_MS = 2_000
/** Mebibytes of memory for the program that reads a page: 5 MB of HTML take about 200. */
export const PAGE_MEMORY_MB = 512
/** Characters of a page's text that are given back: its end is rarely what was looked for. */
export const PAGE_CHARS = 1024 * 1024
