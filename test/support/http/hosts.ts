/** Names in a Host header that are not those of the server under test, however near they come. */
import { port } from '../../../src/testing/http/http-home.ts'

export const hostForms: readonly string[] = [
  // Other machines, and names that a rebinding attack would use.
  ...['evil.example', `evil.example:${port}`, 'rebind.network', `7f000001.rbndr.us:${port}`],
  ...[`127.0.0.1.nip.io:${port}`, `localtest.me:${port}`, `0.0.0.0:${port}`, `[::]:${port}`],
  ...[
    `192.168.0.1:${port}`,
    `10.0.0.1:${port}`,
    `169.254.169.254:${port}`,
    'metadata.google.internal',
  ],
  // Ours as a part of another.
  ...[`127.0.0.1:${port}.evil.example`, `localhost:${port}.evil.example`, `127.0.0.1.evil.example`],
  ...[`localhost.evil.example:${port}`, `evil-localhost:${port}`, `evil.localhost:${port}`],
  ...[`notlocalhost:${port}`, `xlocalhost:${port}`, `1127.0.0.1:${port}`, `127.0.0.11:${port}`],
  ...['holon.example.evil.com', 'evil-holon.example', 'evil.holon.example', 'holon.exampleevil'],
  ...[`holon.example:${port}`, 'holon.example.', 'holon.example:80', 'xholon.example'],
  // Ours with something in front or behind.
  ...[`me@127.0.0.1:${port}`, `127.0.0.1:${port}@evil.example`, `evil.example#127.0.0.1:${port}`],
  ...[`evil.example?127.0.0.1:${port}`, `evil.example/127.0.0.1:${port}`, `127.0.0.1:${port}/`],
  ...[`127.0.0.1:${port}#`, `127.0.0.1:${port}?`, `127.0.0.1:${port},evil.example`],
  ...[
    `evil.example,127.0.0.1:${port}`,
    `127.0.0.1:${port} evil.example`,
    `http://127.0.0.1:${port}`,
  ],
  ...[
    `//127.0.0.1:${port}`,
    `127.0.0.1:${port}:${port}`,
    `127.0.0.1:${port};`,
    `"127.0.0.1:${port}"`,
  ],
  // Another port, or none.
  ...['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:', 'localhost:', '127.0.0.1:80', '127.0.0.1:0'],
  ...[`127.0.0.1:${port}0`, `127.0.0.1:0${port}`, `127.0.0.1:+${port}`, `127.0.0.1:${port}.0`],
  ...['localhost:443', `localhost:${port + 1}`, `localhost:${port - 1}`],
  // The same address in other words: only the exact ones are taken.
  ...[`127.1:${port}`, `127.0.1:${port}`, `2130706433:${port}`, `0x7f000001:${port}`],
  ...[`0177.0.0.1:${port}`, `127.0.0.2:${port}`, `127.000.000.001:${port}`, `127.0.0.1.:${port}`],
  ...[
    `localhost.:${port}`,
    `localhost.localdomain:${port}`,
    `ip6-localhost:${port}`,
    `::1:${port}`,
  ],
  ...[
    `[0:0:0:0:0:0:0:1]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `[::1%25lo]:${port}`,
    `[::1]${port}`,
  ],
  ...[
    `%6cocalhost:${port}`,
    `localhost%00:${port}`,
    `localh\u00f6st:${port}`,
    `_:${port}`,
    '*',
    '',
  ],
]
