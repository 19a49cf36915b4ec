/** Flags of the port and its certificates. */
import { httpEngineNames } from '../../apiserver/transport/engine.ts'
import { flag, oneOf, readBoolean, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { tlsFlags } from './tls.ts'
import { list, readAddress, readTime } from './values.ts'

export const servingFlags = {
  bindAddress: flag({
    name: 'bind-address',
    value: 'IP',
    default: '127.0.0.1',
    read: readAddress,
    help: 'IP address to listen on; 0.0.0.0 or :: for all',
  }),
  securePort: flag({
    name: 'secure-port',
    value: 'PORT',
    default: '6443',
    read: readPort,
    help: 'port to serve HTTPS on; 0 picks a free one',
  }),
  advertiseAddress: flag({
    name: 'advertise-address',
    value: 'IP',
    read: (value) => (value === '' ? '' : readAddress(value)),
    help: "IP address of this server in the Endpoints of the cluster's own Service; the bind address by default",
  }),
  tlsCertFile: flag({
    name: 'tls-cert-file',
    value: 'FILE',
    read: text,
    help: 'PEM serving certificate, with its intermediates; self-made by default',
  }),
  tlsPrivateKeyFile: flag({
    name: 'tls-private-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key of --tls-cert-file',
  }),
  certDir: flag({
    name: 'cert-dir',
    value: 'DIR',
    read: text,
    help: 'directory with apiserver.crt and apiserver.key, the pair to serve with when --tls-cert-file is not set',
  }),
  tlsSan: flag({
    name: 'tls-san',
    value: 'NAMES',
    read: list,
    help: 'additional host names and IP addresses of the self-made serving certificate, separated by commas',
  }),
  ...tlsFlags,
  console: flag({
    name: 'console',
    default: 'true',
    read: readBoolean,
    help: 'serve the console, a page for browsers, at /console',
  }),
  corsAllowedOrigins: flag({
    name: 'cors-allowed-origins',
    value: 'PATTERNS',
    read: list,
    help: 'regular expressions of origins whose pages may call this server, separated by commas; none by default',
  }),
  proxyClientCertFile: flag({
    name: 'proxy-client-cert-file',
    value: 'FILE',
    read: text,
    help: 'PEM client certificate that this server shows to aggregated API servers; self-made by default',
  }),
  proxyClientKeyFile: flag({
    name: 'proxy-client-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key of --proxy-client-cert-file',
  }),
  livezGrace: flag({
    name: 'livez-grace-period',
    value: 'TIME',
    default: '0s',
    read: readTime,
    help: 'maximum time of a start during which /livez passes, /readyz fails and etcd is waited for; with 0s the port opens when the server is ready',
  }),
  shutdownDelay: flag({
    name: 'shutdown-delay-duration',
    value: 'TIME',
    default: '0s',
    read: readTime,
    help: 'time for which the server goes on answering after a signal to stop, while /readyz already fails',
  }),
  shutdownGrace: flag({
    name: 'shutdown-grace-period',
    value: 'TIME',
    default: '10s',
    read: readTime,
    help: 'time that requests under way have to finish when the server stops',
  }),
  workers: flag({
    name: 'workers',
    value: 'N',
    default: '1',
    read: readWorkers,
    help: 'threads that serve requests; at most as many as the machine has cores are of use',
  }),
  maxConnections: flag({
    name: 'max-connections',
    value: 'N',
    default: '0',
    read: readMaxConnections,
    help: 'open connections in all, of which the last few are for system:masters; 0 means 80% of the files that the process may open',
  }),
  maxConnectionsPerUser: flag({
    name: 'max-connections-per-user',
    value: 'N',
    default: '2000',
    read: readMaxPerUser,
    help: 'open connections of one user, and of one address before its user is known; system:masters have no such limit',
  }),
  goawayChance: flag({
    name: 'goaway-chance',
    value: 'PART',
    default: '0',
    read: readChance,
    help: 'part of the requests over HTTP/2 after which their connection ends, so that clients spread anew; 0 to 0.02',
  }),
  httpEngine: flag({
    name: 'http-engine',
    value: 'NAME',
    default: 'orch',
    read: oneOf(httpEngineNames),
    help: 'code that reads and writes HTTP: orch, or node for the HTTP modules of Node.js, which are slower',
  }),
  strictTransportSecurity: flag({
    name: 'strict-transport-security-directives',
    value: 'LIST',
    read: readDirectives,
    help: 'directives of the header Strict-Transport-Security, separated by commas: max-age=SECONDS, includeSubDomains, preload; no header by default',
  }),
  ephemeral: toggle({
    name: 'ephemeral',
    help: 'for tests: keep everything in memory, use a free port, print the kubeconfig, end when standard input or the parent process does',
  }),
}

const minConnections = 16

function readMaxConnections(value: string): number {
  const count = Number(value)
  if (!/^\d{1,9}$/.test(value) || (count !== 0 && count < minConnections))
    throw new UsageError(`${JSON.stringify(value)} is not such a number: use ${minConnections} or more, or 0`)
  return count
}

function readMaxPerUser(value: string): number {
  const count = Number(value)
  if (!/^\d{1,9}$/.test(value) || count < 1)
    throw new UsageError(`${JSON.stringify(value)} is not such a number: use 1 or more`)
  return count
}

const maxChance = 0.02

function readChance(value: string): number {
  const chance = Number(value)
  if (value.trim() === '' || !(chance >= 0 && chance <= maxChance))
    throw new UsageError(`${JSON.stringify(value)} is not such a part: use 0 to ${maxChance}, such as 0.001`)
  return chance
}

const maxWorkers = 64

function readWorkers(value: string): number {
  const workers = Number(value)
  if (!/^\d{1,3}$/.test(value) || workers < 1 || workers > maxWorkers)
    throw new UsageError(`${JSON.stringify(value)} is not a number of workers: use 1 to ${maxWorkers}`)
  return workers
}

export function readPort(value: string): number {
  const port = Number(value)
  if (!/^\d{1,5}$/.test(value) || port > 65535)
    throw new UsageError(`${JSON.stringify(value)} is not a port: use 0 to 65535`)
  return port
}

/** The value of the header. */
function readDirectives(value: string): string {
  const directives = list(value)
  const wrong = directives.find((each) => !/^(max-age=\d{1,10}|includeSubDomains|preload)$/.test(each))
  if (wrong !== undefined)
    throw new UsageError(`${JSON.stringify(wrong)} is not max-age=SECONDS, includeSubDomains or preload`)
  if (directives.length > 0 && !directives.some((each) => each.startsWith('max-age=')))
    throw new UsageError('max-age=SECONDS is missing, without which browsers ignore the header')
  return directives.join('; ')
}
