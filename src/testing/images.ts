/** Images for tests: the smallest files of each kind that say a size, and nothing else. */

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

const hex = (n: number, bytes: number): string => n.toString(16).padStart(bytes * 2, '0')

/** Low bytes first. */
const reversed = (n: number, bytes: number): string =>
  (hex(n, bytes).match(/../g) ?? []).toReversed().join('')

/** Its one pixel is there, whatever size it claims; `salt` makes it another file. */
export const pngOf = (width: number, height: number, salt = 0): Uint8Array =>
  bytesOf(
    `89504e470d0a1a0a0000000d49484452${hex(width, 4)}${hex(height, 4)}0806000000${hex(salt, 4)}` +
      '0000000b49444154789c6360000200000500017a5eab3f0000000049454e44ae426082',
  )

export const gifOf = (width: number, height: number): Uint8Array =>
  bytesOf(`474946383961${reversed(width, 2)}${reversed(height, 2)}800000ffffff0000003b`)

/** With a segment of an application in front of the one that says the size. */
export const jpegOf = (width: number, height: number): Uint8Array =>
  bytesOf(
    `ffd8ffe000104a46494600010100000100010000ffc0001108${hex(height, 2)}${hex(width, 2)}` +
      '03012200021101031101ffd9',
  )

export const webpOf = (width: number, height: number): Uint8Array =>
  bytesOf(
    `52494646160000005745425056503858${reversed(10, 4)}00000000` +
      `${reversed(width - 1, 3)}${reversed(height - 1, 3)}`,
  )
