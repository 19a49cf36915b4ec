/**
 * Credentials of a node agent: the certificate of its node, in a kubeconfig that only the owner of the file may read.
 * Without a valid certificate, the agent joins the cluster with its bootstrap token. Before a certificate expires, the
 * agent requests a new one as the node itself.
 */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tokenForm } from '../../api/model/bootstrap-token.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { replaceFile } from '../../base/files/files.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { parserFor } from '../../client/node/config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from '../../client/node/http-transport.ts'
import { readClientConfig } from '../../client/node/kubeconfig.ts'
import { adminKubeconfig } from '../../client/node/kubeconfig-write.ts'
import { Client } from '../../client/requests/client.ts'
import { pinsOf, trustCluster } from '../../tools/joining/cluster-info.ts'
import { JoinError } from '../../tools/joining/join-error.ts'
import { nodeCertificate, requestCertificate } from '../../tools/joining/node-certificate.ts'

/** The files from which the credentials of a node are read and to which they are written. */
export interface CredentialFiles {
  readonly nodeName: string
  /** Path of the node's kubeconfig, which may not exist yet. */
  readonly kubeconfig: string
  /** Path of the bootstrap kubeconfig. Empty if there is no such file. */
  readonly bootstrapKubeconfig: string
  readonly timeoutMs: number
}

/** The credentials of a node, with the address and CA of its API server. */
interface Identity {
  readonly server: string
  readonly authority: string
  readonly pair: CertifiedKey
}

interface CredentialDependencies {
  readonly clock: Clock
  readonly log: Log
}

/** Bounds of the random fraction of a certificate's lifetime after which it is renewed. */
const renewal = { from: 0.7, to: 0.9 }
const retryMs = 60_000
/** Maximum delay of a timer in milliseconds. Node.js timers with a delay of more than 24 days fire immediately. */
const maxPauseMs = 86_400_000

export class NodeCredentials {
  readonly transport: HttpTransport
  readonly #files: CredentialFiles
  readonly #dependencies: CredentialDependencies
  #identity: Identity

  private constructor(files: CredentialFiles, identity: Identity, dependencies: CredentialDependencies) {
    this.#files = files
    this.#dependencies = dependencies
    this.#identity = identity
    const { server, authority } = identity
    const credentials = {
      current: async () => ({ certificate: this.#identity.pair }),
      replace: async () => undefined,
    }
    this.transport = new HttpTransport({ server, authority, credentials })
  }

  /** Reads the kubeconfig, or joins the cluster and writes the kubeconfig. Throws UsageError and JoinError. */
  static async open(
    files: CredentialFiles,
    dependencies: CredentialDependencies & { stopping: AbortSignal },
  ): Promise<NodeCredentials> {
    const storedIdentity = await readIdentity(files, dependencies.clock.now())
    if (storedIdentity !== undefined) return new NodeCredentials(files, storedIdentity, dependencies)
    const joined = await join(files, dependencies)
    await save(files, joined)
    return new NodeCredentials(files, joined, dependencies)
  }

  /** CA certificate of the cluster in PEM format. */
  get authority(): string {
    return this.#identity.authority
  }

  /** The client certificate currently in use, for the log. */
  get certificate(): string {
    return this.#identity.pair.certificate
  }

  /** Renews the certificate when it is due, until the signal aborts. */
  async renew(vendor: Vendor, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#dependencies
    let due = dueAt(this.#identity.pair)
    while (!signal.aborted) {
      await pause(Math.min(Math.max(due - clock.now(), 0), maxPauseMs), signal)
      if (signal.aborted || clock.now() < due) continue
      try {
        await this.replace(vendor, signal)
        due = dueAt(this.#identity.pair)
        log.info("renewed the node's client certificate", { until: endOf(this.#identity.pair).toISOString() })
      } catch (error) {
        if (!signal.aborted) log.warn("cannot renew the node's client certificate; will retry", errorFields(error))
        due = clock.now() + retryMs
      }
    }
  }

  /** Requests a new certificate as the node and starts to use it. */
  async replace(vendor: Vendor, signal: AbortSignal): Promise<void> {
    const client = new Client(this.transport.send, { userAgent: vendor.nodeAgent })
    const { nodeName, timeoutMs } = this.#files
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const pair = await requestCertificate(client, { vendor, nodeName, use: 'client', signal: inTime })
    const identity = { ...this.#identity, pair }
    await save(this.#files, identity)
    this.#identity = identity
  }
}

function endOf({ certificate }: CertifiedKey): Date {
  return new X509Certificate(certificate).validToDate
}

function dueAt({ certificate }: CertifiedKey): number {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  const from = validFromDate.getTime()
  const to = validToDate.getTime()
  return from + (to - from) * (renewal.from + Math.random() * (renewal.to - renewal.from))
}

/**
 * Reads the kubeconfig, or returns undefined if the file does not exist or the certificate in it has expired. Throws if
 * the certificate belongs to another node.
 */
async function readIdentity({ kubeconfig, nodeName }: CredentialFiles, now: number): Promise<Identity | undefined> {
  if (!existsSync(kubeconfig)) return undefined
  const { server, authority, certificate: pair } = await readConfig(kubeconfig)
  if (authority === undefined || pair === undefined)
    throw new UsageError(`--kubeconfig: ${kubeconfig} has no node certificate or no CA`)
  const certificate = new X509Certificate(pair.certificate)
  if (!certificate.subject.split('\n').includes(`CN=system:node:${nodeName}`))
    throw new UsageError(`--kubeconfig: the certificate in ${kubeconfig} does not belong to node ${nodeName}`)
  return certificate.validToDate.getTime() > now ? { server, authority, pair } : undefined
}

async function readConfig(file: string): Promise<HttpTransportOptions> {
  return readClientConfig({ files: [file], parse: await parserFor([file]) }).transport
}

async function join(
  { nodeName, bootstrapKubeconfig, kubeconfig, timeoutMs }: CredentialFiles,
  { log, stopping }: { log: Log; stopping: AbortSignal },
): Promise<Identity> {
  if (bootstrapKubeconfig === '')
    throw new UsageError(`--bootstrap-kubeconfig is required: ${kubeconfig} has no valid node certificate`)
  const { server, authority: configuredAuthority, token } = await readConfig(bootstrapKubeconfig)
  const text = (await token?.()) ?? ''
  const [, id = '', secret = ''] = tokenForm.exec(text) ?? []
  if (id === '') throw new UsageError(`--bootstrap-kubeconfig: ${bootstrapKubeconfig} has no bootstrap token`)
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)])
  const pins = configuredAuthority === undefined ? [] : pinsOf(configuredAuthority)
  const cluster = await trustCluster({ server, token: { id, secret }, pins, signal })
  log.info('verified cluster-info with the bootstrap token', { server })
  const onRequested = (name: string) => log.info('requested a client certificate', { request: name })
  const pair = await nodeCertificate(cluster, { server, token: { id, secret }, nodeName, signal, onRequested })
  return { server, authority: cluster.authority, pair }
}

async function save({ kubeconfig, nodeName }: CredentialFiles, { server, authority, pair }: Identity): Promise<void> {
  const config = adminKubeconfig({ cluster: 'orch', user: `system:node:${nodeName}`, server, authority, ...pair })
  await replaceFile(kubeconfig, config, 0o600).catch((error: unknown) => {
    throw new JoinError(`cannot write ${kubeconfig}: ${(error as Error).message}`)
  })
}
