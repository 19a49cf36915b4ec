/**
 * An admission webhook that allows everything at once, as a process of its own, for `rows/webhooks.ts`: it prints a line
 * of JSON with its URL and the base64 of its authority's certificate, and ends with its parent.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = mkdtempSync(join(tmpdir(), 'orch-bench-webhook-'))
const [certFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')]
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=webhook', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
  ],
  { stdio: 'ignore' },
)
const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)]
rmSync(directory, { recursive: true, force: true })

const server = createServer({ cert, key }, (request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { apiVersion, request: asked } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const body = JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid: asked.uid, allowed: true } })
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
