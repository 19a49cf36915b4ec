/**
 * Replaces the two binaries that envtest (the test environment of controller-runtime) and similar tools start: `etcd`,
 * which only responds to health checks, and `kube-apiserver`, which is this server with an in-memory store. To run test
 * suites that use envtest, set KUBEBUILDER_ASSETS to the directory `bin/envtest` of this package, or to a directory
 * that `orch envtest install` creates for one Kubernetes version. ORCH_EMULATED_VERSION selects a different version.
 *
 * Each flag of the two programs has its usual effect, or is listed here as accepted without effect. All other flags are
 * rejected. If a real etcd responds at `--etcd-servers`, the server uses it.
 */
import { createServer } from 'node:http'
import { version } from '../../api/model/version.ts'
import { groupedHelp } from '../../base/flags/flag-help.ts'
import { type Flags, flag, parseFlags, readBoolean, text, UsageError } from '../../base/flags/flags.ts'
import { callUrl } from '../../wire/http/client/url-call.ts'
import { UrlConnections } from '../../wire/http/client/url-connections.ts'
import { ephemeralDirectory } from './ephemeral.ts'

const etcdFlags = {
  listenClientUrls: flag({
    name: 'listen-client-urls',
    value: 'URLS',
    default: 'http://127.0.0.1:2379',
    read: text,
    help: 'URLs at which to serve /health',
  }),
  advertiseClientUrls: flag({
    name: 'advertise-client-urls',
    value: 'URLS',
    read: text,
    help: 'accepted for compatibility with etcd, but has no effect',
  }),
  listenPeerUrls: flag({
    name: 'listen-peer-urls',
    value: 'URLS',
    read: text,
    help: 'accepted for compatibility with etcd, but has no effect',
  }),
  dataDir: flag({
    name: 'data-dir',
    value: 'DIR',
    read: text,
    help: 'accepted for compatibility with etcd, but has no effect, because this program stores nothing',
  }),
  unsafeNoFsync: flag({
    name: 'unsafe-no-fsync',
    default: 'false',
    read: readBoolean,
    help: 'accepted for compatibility with etcd, but has no effect, because this program stores nothing',
  }),
} satisfies Flags

/** Timeout in milliseconds for checking whether there is a real etcd. */
const probeMs = 5_000
const maxHealthBytes = 64 * 1024

/** Runs `etcd`, or returns the arguments for `orch apiserver` that correspond to the `kube-apiserver` command line. */
export async function envtestCommand(args: readonly string[]): Promise<readonly string[] | undefined> {
  const [program, ...rest] = args
  if (program === 'etcd') return await runEtcd(rest)
  if (program === 'kube-apiserver') return await apiServerArgs(withVersion(rest, process.env.ORCH_EMULATED_VERSION))
  if (program === 'install') {
    const { installEnvtest } = await import('./envtest-install.ts')
    process.stdout.write(`${await installEnvtest(rest, process.argv[1]!)}\n`)
    return undefined
  }
  throw new UsageError(
    `unknown program ${JSON.stringify(program ?? '')}: use orch envtest etcd, orch envtest kube-apiserver or orch envtest install`,
  )
}

/**
 * Returns the arguments with the Kubernetes version from the environment added. The environment takes precedence over
 * the flag.
 */
export function withVersion(args: readonly string[], version: string | undefined): readonly string[] {
  if (version === undefined || version === '') return args
  const flagName = '--emulated-version'
  const others = args.filter(
    (arg, i) => !arg.startsWith(`${flagName}=`) && arg !== flagName && args[i - 1] !== flagName,
  )
  return [`${flagName}=${version}`, ...others]
}

async function runEtcd(args: readonly string[]): Promise<undefined> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(
      `Usage:\n  etcd [flags]  replace etcd in test environments\n\n${groupedHelp({ Flags: etcdFlags }, 80)}`,
    )
    return
  }
  const { listenClientUrls } = parseFlags(etcdFlags, args)
  const [address = ''] = listenClientUrls.split(',')
  if (!URL.canParse(address) || new URL(address).protocol !== 'http:')
    throw new UsageError(
      `--listen-client-urls: ${JSON.stringify(address)} is not a valid URL: use a URL such as http://127.0.0.1:2379`,
    )
  const { hostname, port } = new URL(address)
  const server = createServer((request, response) => {
    const isHealth = request.url === '/health'
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isHealth ? { health: 'true', standsIn: `orch ${version}` } : { error: notAStore }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(Number(port || 80), hostname, resolve)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0))
}

const notAStore = 'this program replaces etcd and stores nothing: the kube-apiserver next to it stores its own objects'

async function apiServerArgs(args: readonly string[]): Promise<readonly string[]> {
  const effectiveArgs = args.filter((arg) => !isWithoutEffect(arg))
  const servers = effectiveArgs.filter((arg) => arg.startsWith('--etcd-servers='))
  const isOurs = await Promise.all(servers.map(async (arg) => await isStandIn(arg.slice('--etcd-servers='.length))))
  const store = isOurs.includes(false) ? [...servers, `--data-dir=${ephemeralDirectory()}/data`] : ['--ephemeral']
  return [
    '--profile=kubernetes',
    '--admin-kubeconfig=',
    ...store,
    ...effectiveArgs.filter((arg) => !servers.includes(arg)),
  ]
}

/** Whether a flag of kube-apiserver requests behavior that is always enabled here. */
function isWithoutEffect(arg: string): boolean {
  if (arg === '--allow-privileged' || arg === '--allow-privileged=true') return true
  if (arg.startsWith('--allow-privileged='))
    throw new UsageError('--allow-privileged=false is not supported: use policies to restrict privileged containers')
  if (arg === '--insecure-port=0') return true
  if (arg.startsWith('--insecure-port')) throw new UsageError('--insecure-port is not supported: use 0')
  return false
}

async function isStandIn(address: string): Promise<boolean> {
  const connections = new UrlConnections()
  try {
    const url = new URL('/health', address)
    const limits = { timeoutMs: probeMs, maxBytes: maxHealthBytes, faultOf: () => undefined }
    const { body } = await callUrl({ url, connections, ...limits })
    const health = JSON.parse(body.toString('utf8')) as { standsIn?: unknown }
    return health.standsIn !== undefined
  } catch {
    return false // If there is a real etcd but it is faulty, the server reports the fault.
  } finally {
    connections.destroy()
  }
}
