/** Opens connections through an HTTP proxy. */
import type { Socket } from 'node:net'
import { ConnectionPool, type PoolOptions } from '../../wire/http/client/connection-pool.ts'
import { openTcp, openTls } from '../../wire/http/client/open-connection.ts'
import { requestHead } from '../../wire/http/client/request-head.ts'
import { type StreamedAnswer, streamCall } from '../../wire/http/client/streamed-call.ts'

export interface TunnelTarget {
  readonly host: string
  readonly port: number
  readonly timeoutMs: number
}

/** Opens a tunnel with CONNECT. The URL of the proxy may contain a user name and password. */
export async function tunnelThrough(proxy: string, target: TunnelTarget): Promise<Socket> {
  const url = new URL(proxy)
  const { status, body, switched } = await connectThrough(url, target).catch((error: Error) => {
    throw new Error(`cannot connect to the proxy ${url.host}`, { cause: error.cause ?? error })
  })
  if (switched === undefined) {
    body.destroy()
    throw new Error(`the proxy ${url.host} responded to CONNECT with status ${status}`)
  }
  if (switched.rest.length > 0) switched.socket.unshift(switched.rest)
  return switched.socket as Socket
}

function connectThrough(url: URL, { host, port, timeoutMs }: TunnelTarget): Promise<StreamedAnswer> {
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const proxyHost = url.hostname.replace(/^\[|\]$/g, '')
  const open: PoolOptions['open'] = (onSocket) =>
    url.protocol === 'https:'
      ? openTls({ host: proxyHost, port: Number(url.port || 443) }, onSocket)
      : openTcp(proxyHost, Number(url.port || 80), onSocket)
  return streamCall({
    pool: new ConnectionPool({ open, maxConnections: 1, maxIdle: 0 }),
    serverName: proxyHost,
    method: 'CONNECT',
    head: requestHead('CONNECT', authority, ['host', authority, ...proxyAuthorization(url)]),
    body: undefined,
    timeoutMs,
    signal: undefined,
    rules: { switchesAt: (status) => status === 200 },
  })
}

function proxyAuthorization({ username, password }: URL): string[] {
  if (username === '') return []
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return ['proxy-authorization', `Basic ${Buffer.from(pair).toString('base64')}`]
}
