/** Serves connections to the ports of simulated pods with HTTP/1.1. Each connection receives one response. */
import type { Duplex } from 'node:stream'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { HttpRoute } from '../kwok/port-objects.ts'

const maxHead = 16 * 1024
const headEnd = '\r\n\r\n'
const plainText = { name: 'content-type', value: 'text/plain; charset=utf-8' }

/** Computes the response to a request with this method and target. */
export type Responder = (method: string, target: string) => Pick<HttpRoute, 'code' | 'headers' | 'body'>

/** Responds with the name of the pod. */
export function helloFrom({ metadata, spec }: Pod): Responder {
  return (method, target) => ({
    code: 200,
    headers: [plainText],
    body: `hello from the simulated pod ${metadata.namespace}/${metadata.name} on ${spec?.nodeName}\n${method} ${target}\n`,
  })
}

/**
 * Returns a responder for the given routes. If several routes match a request, the one with the longest location wins.
 */
export function respondFrom(routes: readonly HttpRoute[]): Responder {
  return (_method, target) => {
    const [path = ''] = target.split('?', 1)
    const matches = routes.filter(
      ({ location }) => path === location || (location.endsWith('/') && path.startsWith(location)),
    )
    const longest = matches.reduce<HttpRoute | undefined>(
      (best, route) => (best === undefined || route.location.length > best.location.length ? route : best),
      undefined,
    )
    return longest ?? { code: 404, headers: [plainText], body: '404 page not found\n' }
  }
}

/** Serves one connection. Resolves when the connection is closed. */
export async function serveHttp(respond: Responder, stream: Duplex, signal: AbortSignal): Promise<void> {
  const abort = () => stream.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const head = await readHead(stream)
    if (head !== undefined) await end(stream, responseTo(head, respond))
  } catch {
    // The client disconnected before it sent a request.
  } finally {
    signal.removeEventListener('abort', abort)
    stream.destroy()
  }
}

/**
 * Returns the request line once the headers are complete, or undefined if the client sends other data or disconnects.
 */
async function readHead(stream: Duplex): Promise<string | undefined> {
  const parts: string[] = []
  let length = 0
  let end = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const text = (chunk as Buffer).toString('latin1')
    parts.push(text)
    length += text.length
    // Search only the new data and the end of the old data. Otherwise, a client that sends one byte at a time would
    // cause quadratic work.
    if (`${end}${text}`.includes(headEnd)) return parts.join('').split('\r\n', 1)[0]
    if (length > maxHead) return undefined
    end = `${end}${text}`.slice(1 - headEnd.length)
  }
  return undefined
}

function responseTo(head: string, respond: Responder): Buffer {
  const [method = '', target = ''] = head.split(' ', 2)
  const { code, headers, body } = respond(method, target)
  const content = Buffer.from(body)
  const { STATUS_CODES } = process.getBuiltinModule('node:http')
  const hasBody = code !== 204 && code !== 304
  const lines = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(hasBody ? [`content-length: ${content.length}`] : []),
    'connection: close',
  ]
  const start = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return Buffer.concat(method === 'HEAD' || !hasBody ? [start] : [start, content])
}

function end(stream: Duplex, data: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.end(data, resolve)
  })
}
