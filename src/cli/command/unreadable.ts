/** Why a file that was named could not be read, in words of a person. */
import type { TextFileRead } from './ports.ts'

type Why = Exclude<TextFileRead, { ok: true }>['why']

const words: Readonly<Record<Exclude<Why, 'too_large'>, string>> = {
  not_found: 'it is not there',
  denied: 'it may not be read',
  is_folder: 'it is a folder',
  not_regular: 'it is no regular file',
  binary: 'it is no text in UTF-8',
  io: 'it cannot be read',
}

/** `too_large`: what the file is larger than, as a sentence, for the limit is the reader's. */
export const unreadable = (why: Why, too_large: string): string =>
  why === 'too_large' ? too_large : words[why]
