/** What is used of a library that comes without types. */
declare module '@joplin/turndown-plugin-gfm' {
  import type TurndownService from 'turndown'
  export const tables: TurndownService.Plugin
}
