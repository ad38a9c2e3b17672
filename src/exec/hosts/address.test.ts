// Addresses that a page may be fetched from: those of the public internet alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublicAddress } from './address.ts'

const inside = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
  169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170
  192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1
  198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
  255.255.255.254 255.255.255.255
  :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
  ::ffff:7f00:1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1
  2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
  2002:7f00:1:: 2002:0a00:0001::1 3fff::1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254
  fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1
`
  .trim()
  .split(/\s+/)

test('no address of this machine, of a private network or of a special use is public', () => {
  assert.ok(inside.length >= 60, `${inside.length}`)
  assert.deepEqual(inside.filter(isPublicAddress), [])
})

test('addresses beside those are', () => {
  const outside = `
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0
    198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8 2001:4860:4860::8888
    2606:4700:4700::1111 2a00:1450:4001:81b::200e
  `
    .trim()
    .split(/\s+/)
  assert.deepEqual(
    outside.filter((address) => !isPublicAddress(address)),
    [],
  )
})

test('what is no address is not public', () => {
  const none = [
    '',
    'localhost',
    'example.com',
    '1.2.3',
    '8.8.8.8.',
    ' 8.8.8.8',
    '8.8.8.8:80',
    '[::1]',
  ]
  assert.deepEqual(none.filter(isPublicAddress), [])
})
