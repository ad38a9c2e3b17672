import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { copyText, editText, pageText } from './terminal-tools.ts'

/** A folder for programs of ours, which is all that is found by name beside the shell. */
function programs(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'holon-tools-'))
  const { PATH = '' } = process.env
  process.env['PATH'] = folder
  t.after(() => {
    process.env['PATH'] = PATH
    rmSync(folder, { recursive: true })
  })
  return {
    at: (name: string) => join(folder, name),
    said: (name: string) => readFileSync(join(folder, name), 'utf8'),
    program: (name: string, script: string) => {
      const path = join(folder, name)
      writeFileSync(path, `#!/bin/sh\nPATH="${PATH.split(delimiter).join(':')}"\n${script}\n`)
      chmodSync(path, 0o755)
      return path
    },
  }
}
const linux = { skip: process.platform === 'win32' ? 'scripts of a shell' : false }

test('the first clipboard that fits the place and works gets the text', linux, async (t) => {
  const { program, said, at } = programs(t)
  const keeps = `{ echo "$@"; cat; } > "$0.said"`
  const everywhere = { WAYLAND_DISPLAY: 'w', WSL_DISTRO_NAME: 'd', DISPLAY: ':0', TMUX: 't' }
  assert.equal(await copyText('a', everywhere), null)
  program('tmux', keeps)
  assert.equal(await copyText('a', { TMUX: '' }), null)
  assert.equal(await copyText('a', everywhere), 'tmux')
  assert.equal(said('tmux.said'), 'load-buffer -w -\na')
  program('xclip', keeps)
  assert.equal(await copyText('b', { TMUX: 't' }), 'tmux')
  assert.equal(await copyText('b', everywhere), 'xclip')
  assert.equal(said('xclip.said'), '-selection clipboard\nb')
  program('clip.exe', keeps)
  assert.equal(await copyText('c', { DISPLAY: ':0' }), 'xclip')
  assert.equal(await copyText('c', everywhere), 'clip.exe')
  assert.equal(said('clip.exe.said'), '\nc')
  program('wl-copy', 'exit 1')
  assert.equal(await copyText('d', everywhere), 'clip.exe')
  program('wl-copy', keeps)
  assert.equal(await copyText('d', { DISPLAY: ':0', TMUX: 't' }), 'xclip')
  assert.equal(await copyText('d', everywhere), 'wl-copy')
  program('pbcopy', keeps)
  assert.equal(await copyText('e', {}), 'pbcopy')
  assert.equal(await copyText('e', everywhere), 'wl-copy')
  assert.ok(existsSync(at('pbcopy.said')))
})

test('a page is shown by the pager that is named, else by less', linux, async (t) => {
  const { program, said } = programs(t)
  const keeps = `{ echo "$@"; cat; } > "$0.said"`
  await assert.rejects(pageText('a', {}), { message: 'less could not be started; set PAGER' })
  await assert.rejects(pageText('a', { PAGER: ' nobody -x' }), {
    message: 'nobody could not be started; set PAGER',
  })
  program('less', keeps)
  program('more', keeps)
  for (const PAGER of [undefined, '', '  ']) {
    rmSync(program('less.said', ''))
    await pageText(`${PAGER}`, { PAGER })
    assert.equal(said('less.said'), `\n${PAGER}`)
  }
  await pageText('b', { PAGER: ' more  -a -b ' })
  assert.equal(said('more.said'), '-a -b\nb')
})

test('an editor gets the text in a file, and what it made of it comes back', linux, async (t) => {
  const { program, said, at } = programs(t)
  const edits = program(
    'edit',
    `for last in "$@"; do :; done; echo "$@" > "$0.said"; printf new > "$last"`,
  )
  await assert.rejects(editText('old', {}), { message: 'vi could not be started; set EDITOR' })
  await assert.rejects(editText('old', { EDITOR: 'nobody' }), {
    message: 'nobody could not be started; set EDITOR',
  })
  assert.equal(await editText('old', { VISUAL: ' edit  -w ', EDITOR: 'nobody' }), 'new')
  const [flag, path = ''] = said('edit.said').trim().split(' ')
  assert.equal(flag, '-w')
  assert.match(path, /holon-draft-.*\/draft\.md$/)
  assert.equal(existsSync(path), false, 'the draft is gone')
  assert.equal(await editText('new', { EDITOR: edits }), null, 'nothing was changed')
  program('vi', `printf more >> "$1"`)
  assert.equal(await editText('old', { VISUAL: '', EDITOR: '' }), 'oldmore')
  program('vi', `printf more >> "$1"; exit 1`)
  assert.equal(await editText('old', {}), null)
  program('vi', `ls -l "$1" | cut -c1-10 > "${at('mode')}"; printf x > "$1"`)
  assert.equal(await editText('old', {}), 'x')
  assert.equal(said('mode'), '-rw-------\n')
})
