/**
 * Serves the ports of simulated pods with an HTTP/1.1 server that responds to one request per connection with the name
 * of the pod.
 */
import type { Duplex } from 'node:stream'
import type { Pod } from '../../../api/kinds/core/pod.ts'

const maxHead = 16 * 1024
const headEnd = '\r\n\r\n'

/** Serves one connection. Resolves when the connection is closed. */
export async function sayHello(pod: Pod, stream: Duplex, signal: AbortSignal): Promise<void> {
  const abort = () => stream.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const head = await readHead(stream)
    if (head !== undefined) await end(stream, answerTo(pod, head))
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
    // Search only the new data and the end of the old data. Otherwise, a client that sends single bytes would cause
    // quadratic work.
    if (`${end}${text}`.includes(headEnd)) return parts.join('').split('\r\n', 1)[0]
    if (length > maxHead) return undefined
    end = `${end}${text}`.slice(1 - headEnd.length)
  }
  return undefined
}

function answerTo({ metadata, spec }: Pod, head: string): string {
  const [method = '', target = ''] = head.split(' ', 2)
  const text = `hello from the simulated pod ${metadata.namespace}/${metadata.name} on ${spec?.nodeName}\n${method} ${target}\n`
  const headers = [
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ]
  return `HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : text}`
}

function end(stream: Duplex, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.end(text, resolve)
  })
}
