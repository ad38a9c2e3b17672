/** `'…'` for any text without NUL: one word of the shell, whatever is in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
