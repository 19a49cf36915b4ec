/**
 * Opens the listener as configured by flags. If the listener cannot be opened, explains the system error and how to fix
 * it.
 */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { Exchange } from '../../apiserver/http/request/exchange.ts'
import { ConnectionCounts, type ConnectionMaxima } from '../../apiserver/transport/connection-counts.ts'
import { maxConnectionsFor } from '../../apiserver/transport/connection-limits.ts'
import { Listener, type Security } from '../../apiserver/transport/listener.ts'
import type { WorkerConnections } from '../../apiserver/transport/worker-evictions.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { openFileLimit } from '../../base/limits/open-files.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Certificates } from '../certificates/certificates.ts'
import type { ServerOptions } from '../flags/options.ts'

export interface ListenerParts {
  readonly handle: (exchange: Exchange) => Promise<void>
  /** Whether a request with this path and query may switch protocols. */
  readonly maySwitch: (target: string) => boolean
  readonly clock: Clock
  readonly log: Log
  /**
   * Shared memory and a channel that workers use to count and evict connections. Undefined if there is only one worker.
   */
  readonly counting?: WorkerConnections | undefined
  /** How to share the port. Undefined if no other worker uses the port. */
  readonly portSharing?: PortSharing | undefined
}

/** How a worker shares the port with other workers. */
export interface PortSharing {
  /** Whether this worker is the first to listen on the port. If so, the port must be free. */
  readonly isAlone: boolean
}

/** Assumed limit on open files if the operating system does not report one. */
const usualOpenFiles = 1024

type Address = Pick<ServerOptions, 'bindAddress' | 'securePort' | 'goawayChance' | 'httpEngine'>
type Maxima = Pick<ServerOptions, 'maxConnections' | 'maxConnectionsPerUser'>
type Tls = Pick<ServerOptions, 'tlsMinVersion' | 'tlsCipherSuites'>

export async function openListener(
  options: Address & Tls & Maxima,
  { tls }: Pick<Certificates, 'tls'>,
  { handle, maySwitch, clock, log, counting, portSharing }: ListenerParts,
): Promise<Listener> {
  const { bindAddress: host, goawayChance, httpEngine } = options
  const onError = (error: unknown) => log.error('client connection failed', errorFields(error))
  const connections = new ConnectionCounts(maximaOf(options), counting)
  const port = portSharing?.isAlone ? await choosePort(options) : options.securePort
  try {
    return await Listener.open({
      host,
      port,
      reusePort: portSharing !== undefined,
      goawayChance,
      httpEngine,
      tls,
      security: securityOf(options),
      onRequest: (transport) => void handle(new Exchange(transport, clock.monotonic())).catch(onError),
      maySwitch,
      onError,
      connections,
      evictions: counting,
    })
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, options)
  }
}

/** Returns the connection limits that result from the flags and the limit on open files. Throws UsageError. */
export function maximaOf({ maxConnections, maxConnectionsPerUser: perUser }: Maxima): ConnectionMaxima {
  const openFiles = openFileLimit() ?? usualOpenFiles
  if (maxConnections > openFiles) {
    throw new UsageError(
      `--max-connections=${maxConnections} exceeds the limit of ${openFiles} open files: raise the limit (ulimit -n), or use a lower value`,
    )
  }
  return { total: maxConnections || maxConnectionsFor(openFiles), perUser }
}

function securityOf({ tlsMinVersion: minVersion, tlsCipherSuites: ciphers }: Tls): Security {
  return { minVersion, ...(ciphers === undefined ? {} : { ciphers }) }
}

/**
 * Returns a free port: the port in the options or, if that is 0, any free port. Opening a shared port would succeed
 * even if another program of the same user is using it. The port is therefore first opened briefly in exclusive mode.
 */
export async function choosePort(options: Pick<ServerOptions, 'bindAddress' | 'securePort'>): Promise<number> {
  const probe = createServer()
  try {
    probe.listen({ host: options.bindAddress, port: options.securePort })
    await once(probe, 'listening')
    const address = probe.address()
    return typeof address === 'object' && address !== null ? address.port : options.securePort
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, options)
  } finally {
    await new Promise((resolve) => probe.close(resolve))
  }
}

/** Returns the listen error, with advice on how to fix it if the cause is known. */
function explained(
  error: NodeJS.ErrnoException,
  { bindAddress: host, securePort: port }: Pick<ServerOptions, 'bindAddress' | 'securePort'>,
): Error {
  const remedies: { readonly [code: string]: string } = {
    EADDRINUSE: `port ${port} on ${host} is in use: stop the program that uses it, or choose another port with --secure-port`,
    EACCES: `port ${port} requires more privileges than this user has: choose a port above 1023 with --secure-port`,
    EADDRNOTAVAIL: `this machine does not have the address ${host}: choose another address with --bind-address`,
  }
  const remedy = remedies[error.code ?? '']
  return remedy === undefined ? error : new UsageError(remedy)
}
