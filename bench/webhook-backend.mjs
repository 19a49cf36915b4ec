/**
 * An admission webhook that allows everything at once, in a separate process, for `rows/webhooks.ts`. It prints one
 * line of JSON with its URL and its CA certificate in base64, and exits with its parent. Under the paths `/huge` and
 * `/quadratic` it also returns patches that are expensive to apply.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = mkdtempSync(join(tmpdir(), 'orch-bench-webhook-'))
const certFile = join(directory, 'tls.crt')
const keyFile = join(directory, 'tls.key')
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=webhook', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
  ],
  { stdio: 'ignore' },
)
const cert = readFileSync(certFile)
const key = readFileSync(keyFile)
rmSync(directory, { recursive: true, force: true })

const finalizers = Array.from({ length: 50_000 }, (_, i) => `example.com/f${i}`)
const patches = {
  '/huge': [{ op: 'add', path: '/data', value: { big: 'x'.repeat(8 * 1024 * 1024) } }],
  // Each insertion at the front moves all existing elements.
  '/quadratic': [
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
    ...Array.from({ length: 9_000 }, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'example.com/x' })),
  ],
}
const answers = Object.fromEntries(
  Object.entries(patches).map(([path, patch]) => {
    const text = Buffer.from(JSON.stringify(patch)).toString('base64')
    return [path, `"patchType":"JSONPatch","patch":"${text}",`]
  }),
)

const server = createServer({ cert, key }, (request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { apiVersion, request: asked } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const answer = `{${answers[request.url] ?? ''}"uid":"${asked.uid}","allowed":true}`
    const body = `{"apiVersion":"${apiVersion}","kind":"AdmissionReview","response":${answer}}`
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(JSON.stringify({ url: `https://127.0.0.1:${port}/allow`, caBundle: cert.toString('base64') }))
})
process.stdin.resume()
process.stdin.on('end', () => process.exit())
