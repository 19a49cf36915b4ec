// The bare limit: the throughput of Node alone with the same TLS, protocols and bytes. `bare-server.mjs CONFIG` reads a
// JSON file {key, cert, ca, get, list} with the files to serve. Every GET returns the bytes of `get`, /list streams
// those of `list`, and /watch streams every POSTed body. With `workers` in CONFIG, that many threads listen on the
// port, and a watch receives the bodies POSTed to its own thread. The program is plain JavaScript, so that its memory
// does not include a TypeScript loader. It exits when its standard input ends.
import { readFileSync } from 'node:fs'
import { createServer as createHttp1 } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import { createServer as createTls } from 'node:tls'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const config = isMainThread ? JSON.parse(readFileSync(process.argv[2], 'utf8')) : workerData
const { workers = 1, port = 0 } = config
const read = (file) => (file === undefined ? Buffer.alloc(0) : readFileSync(file))
const whole = read(config.get)
const chunks = split(read(config.list), 64 * 1024)
const watching = new Set()

const headers = {
  'audit-id': '00000000-0000-4000-8000-000000000000',
  'cache-control': 'no-cache, private',
  'content-type': 'application/json',
}
const wholeHeaders = { ...headers, 'content-length': whole.length }
const emptyHeaders = { ...headers, 'content-length': 0 }

const http1 = createHttp1((request, response) => {
  const open = (head) => response.writeHead(200, head)
  answer(request.method, request.url, request, response, open)
})
const http2 = createHttp2({ settings: { maxConcurrentStreams: 250 } })
http2.on('session', (session) => session.on('error', () => session.destroy()))
http2.on('stream', (stream, head) => {
  stream.on('error', () => watching.delete(stream))
  answer(head[':method'], head[':path'], stream, stream, (own) => stream.respond({ ...own, ':status': 200 }))
})

function answer(method, path, input, output, open) {
  if (method === 'POST') return takeEvent(input, output, open)
  if (path.startsWith('/list')) return sendList(output, open)
  if (path.startsWith('/watch')) return addWatcher(path, output, open)
  open(wholeHeaders)
  output.end(whole)
}

async function sendList(output, open) {
  open(headers)
  for (const chunk of chunks) {
    if (output.destroyed) return
    if (!output.write(chunk)) await room(output)
  }
  output.end()
}

function room(output) {
  return new Promise((resolve) => {
    const done = () => {
      output.off('drain', done)
      output.off('close', done)
      resolve()
    }
    output.on('drain', done)
    output.on('close', done)
  })
}

function addWatcher(path, output, open) {
  open(headers)
  watching.add(output)
  output.on('close', () => watching.delete(output))
  const seconds = Number(/timeoutSeconds=(\d+)/.exec(path)?.[1] ?? 60)
  setTimeout(() => output.end(), seconds * 1000)
}

function takeEvent(input, output, open) {
  const parts = []
  input.on('data', (part) => parts.push(part))
  input.on('end', () => {
    const event = Buffer.concat(parts)
    for (const watcher of watching) watcher.write(event)
    open(emptyHeaders)
    output.end()
  })
}

function split(bytes, size) {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

const tls = createTls({
  key: read(config.key),
  cert: read(config.cert),
  ca: read(config.ca),
  minVersion: 'TLSv1.2',
  noDelay: true,
  ALPNProtocols: ['h2', 'http/1.1'],
  requestCert: true,
  rejectUnauthorized: false,
})
tls.on('secureConnection', (socket) => {
  socket.on('error', () => socket.destroy())
  const server = socket.alpnProtocol === 'h2' ? http2 : http1
  server.emit('connection', socket)
})
tls.listen({ port, host: '127.0.0.1', reusePort: workers > 1 }, () => {
  const chosen = tls.address().port
  if (!isMainThread) return parentPort.postMessage('listening')
  let waiting = workers - 1
  const tell = () => console.log(`port ${chosen}`)
  const threads = Array.from(
    { length: waiting },
    () => new Worker(import.meta.filename, { workerData: { ...config, port: chosen } }),
  )
  for (const thread of threads) thread.once('message', () => --waiting === 0 && tell())
  if (waiting === 0) tell()
})
if (isMainThread) process.stdin.on('end', () => process.exit(0)).resume()
