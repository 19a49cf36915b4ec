/** Tests HTTP proxies that are configured with `proxy-url` in a kubeconfig. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { before, test } from 'node:test'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { Client } from '../../src/client/requests/client.ts'
import { TransportError } from '../../src/client/requests/transport.ts'
import { endOfFile } from '../support/end-of-file.ts'
import { serve } from '../support/in-process.ts'
import { configMaps } from '../support/resource-types.ts'
import type { Ending, Served } from '../support/server.ts'

let server: Served
before(async () => {
  server = await serve(ending)
})
const ending = endOfFile()

interface Asked {
  readonly target: string
  readonly authorization: string | undefined
}

/** Starts a proxy that requires a password. */
async function startProxy(t: Ending): Promise<{ host: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const proxy = createServer((_, response) => response.writeHead(400).end())
  proxy.on('connect', ({ url = '', headers }, client) => {
    const authorization = headers['proxy-authorization']
    asked.push({ target: url, authorization })
    if (authorization !== `Basic ${Buffer.from('me:pass word').toString('base64')}`)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const [host = '', port = ''] = url.split(':')
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked }
}

test('requests through an HTTP proxy reach the server, and the client verifies the certificate of the server', async (t) => {
  const { host, asked } = await startProxy(t)
  const http = new HttpTransport({ ...server.credentials(), proxy: `http://me:pass%20word@${host}` })
  t.after(async () => http.close())
  assert.deepEqual((await new Client(http.send).list(configMaps, { namespace: 'default' })).items, [])
  assert.deepEqual(
    asked.map(({ target }) => target),
    [`127.0.0.1:${server.port}`],
  )
  const { authority: _, ...unknown } = server.credentials()
  const untrusted = new HttpTransport({ ...unknown, proxy: `http://me:pass%20word@${host}` })
  await assert.rejects(new Client(untrusted.send).list(configMaps), TransportError)
})

test('if the HTTP proxy rejects a request or is unreachable, the error names the proxy', async (t) => {
  const { host } = await startProxy(t)
  const told = async (proxy: string) => {
    const http = new HttpTransport({ ...server.credentials(), proxy })
    t.after(async () => http.close())
    const error: Error = await new Client(http.send).list(configMaps).then(
      () => assert.fail('it was answered'),
      (thrown) => thrown,
    )
    return (error.cause as Error).message
  }
  assert.equal(await told(`http://${host}`), `the proxy ${host} responded to CONNECT with status 407`)
  assert.equal(await told('http://127.0.0.1:1'), 'cannot connect to the proxy 127.0.0.1:1')
})
