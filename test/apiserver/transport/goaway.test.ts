/**
 * Tests `--goaway-chance`: an HTTP/2 request occasionally becomes the last request on its connection, and still gets
 * a normal response.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { test } from 'node:test'
import { readServerFlags } from '../../../src/server/flags/command-line.ts'
import { serve } from '../../support/in-process.ts'

/** With a chance of 2%, the probability that none of this many requests is followed by a GOAWAY is below 10^-17. */
const enough = 2000

test('with --goaway-chance, a connection receives GOAWAY after some requests, and all its requests still get responses', async (t) => {
  const server = await serve(t, ['--goaway-chance=0.02'])
  const session = connect(server.url, { ca: readFileSync(join(server.directory, 'data/pki/ca.crt')) })
  let wasNotified = false
  session.on('goaway', (code) => {
    assert.equal(code, 0)
    wasNotified = true
  })
  let sent = 0
  for (; !wasNotified && !session.closed && sent < enough; sent++) {
    const stream = session.request({ ':path': '/livez' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 200)
    stream.resume()
    await once(stream, 'close')
  }
  assert.ok(sent < enough, 'the connection lives on')
  session.close()
})

test('a --goaway-chance outside the range from 0 to 0.02 is rejected', async () => {
  for (const value of ['0.03', '-1', 'often', ''])
    await assert.rejects(readServerFlags('apiserver', [`--goaway-chance=${value}`]), /--goaway-chance.*use 0 to 0\.02/)
})
