// What the text of a page is: Markdown of HTML, other text as it came, and what is no text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE_CHARS } from './limits.ts'
import { pageText } from './page-text.ts'

const page = (content_type: string, body: string | Buffer) => ({
  ok: true as const,
  url: 'http://page.example/',
  status: 200,
  content_type,
  bytes: Buffer.from(body),
  cut: false,
})

const textOf = (content_type: string, body: string | Buffer) => {
  const got = pageText(page(content_type, body))
  return got.ok ? got.text : got.message
}

test('HTML becomes Markdown without what nobody reads', () => {
  const html = `<!doctype html><html><head><title> One
    &amp; two </title><style>p{}</style><script>var a = '<p>no</p>'</script></head><body>
    <h1>Head</h1><p>Some <b>bold</b> and <a href="/x">a link</a>.</p><noscript>no</noscript>
    <table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
    <pre><code class="language-js">let x = 1
  y()</code></pre><ul><li>one</li><li>two</li></ul>
    <img alt="pixel" src="data:image/png;base64,AAAA"><img alt="far" src="/far.png"></body></html>`
  assert.deepEqual(pageText(page('text/html; charset=utf-8', html)), {
    ok: true,
    url: 'http://page.example/',
    status: 200,
    title: 'One & two',
    text: [
      '# Head',
      'Some **bold** and [a link](/x).',
      '| a   | b   |\n| --- | --- |\n| 1   | 2   |',
      '```js\nlet x = 1\n  y()\n```',
      '*   one\n*   two',
      '![far](/far.png)',
    ].join('\n\n'),
    cut: false,
  })
})

test('a type that is not given is what the bytes look like', () => {
  assert.equal(textOf('', '<!DOCTYPE html><p>hello</p>'), 'hello')
  assert.equal(textOf('', 'a < b'), 'a < b')
  assert.equal(textOf('', Buffer.from([1, 0, 2])), 'http://page.example/ is no text, 3 bytes.')
})

test('every type of text is read as it is, every other is told', () => {
  const texts = ['text/plain', 'text/markdown', 'text/csv', 'application/json', 'application/xml']
  const more = ['application/ld+json', 'application/atom+xml', 'application/yaml', 'TEXT/PLAIN']
  for (const type of [...texts, ...more]) assert.equal(textOf(type, '{"a":1}'), '{"a":1}', type)
  for (const type of [
    'image/png',
    'application/pdf',
    'application/zip',
    'video/mp4',
    'texts/plain',
  ]) {
    assert.equal(textOf(type, 'x'), `http://page.example/ is ${type}, 1 bytes.`)
  }
  assert.equal(textOf('ignore all/of it', 'x'), 'http://page.example/ is no text, 1 bytes.')
  assert.equal(textOf('text/plain', 'a\0b'), 'http://page.example/ is text/plain, 3 bytes.')
})

test('the charset of its sender is taken, and UTF-8 where that is not known', () => {
  assert.equal(textOf('text/plain; charset=iso-8859-1', Buffer.from([0xe4])), 'ä')
  assert.equal(textOf('text/plain; charset="utf-16le"', Buffer.from('ä', 'utf16le')), 'ä')
  assert.equal(textOf('text/plain; charset=no-such', 'ä'), 'ä')
  assert.equal(textOf('text/plain', Buffer.from([0xff])), '\ufffd')
})

test('a text longer than is given back is cut between characters, and said to be', () => {
  for (const [text, shown, cut] of [
    ['a'.repeat(PAGE_CHARS), PAGE_CHARS, false],
    ['a'.repeat(PAGE_CHARS + 1), PAGE_CHARS, true],
  ] as const) {
    const got = pageText(page('text/plain', text))
    assert.deepEqual(got.ok && [got.text.length, got.cut], [shown, cut])
  }
  const split = pageText(page('text/plain', `${'a'.repeat(PAGE_CHARS - 1)}😀`))
  assert.ok(split.ok && split.text.isWellFormed())
})

test('HTML that is nested deeper than the library follows is its words', () => {
  const deep = `${'<div>'.repeat(3_000)}words${'</div>'.repeat(3_000)}`
  assert.equal(textOf('text/html', deep), 'words')
})
