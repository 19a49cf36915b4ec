/** Serves connections to ports of simulated pods as specified by PortForward and ClusterPortForward objects. */
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { openTcp } from '../../../wire/http/client/open-connection.ts'
import { respondFrom, serveHttp } from '../containers/http-responder.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { PodRules } from './pod-rules.ts'
import { type PortService, portRules } from './port-objects.ts'

/**
 * Returns the IP address of a host. If the server must not connect to the host, rejects with an error whose message is
 * sent to the client.
 */
export type ResolveAddress = (host: string, port: number) => Promise<string>

/** Maximum number of connections to other servers at the same time. */
const maxConnections = 256

export class PortServices {
  readonly #rules: PodRules<PortService>
  readonly #resolve: ResolveAddress
  #connections = 0

  constructor(own: FollowedObjects, cluster: FollowedObjects, resolve: ResolveAddress) {
    this.#rules = new PodRules(portRules, own, cluster)
    this.#resolve = resolve
  }

  /** Returns how to serve a port of the pod, or undefined if no object specifies the port. */
  serviceOf(pod: Pod, port: number): PortService | undefined {
    return this.#rules.find(pod, port)
  }

  /**
   * Serves one connection. Resolves when the connection is closed. If the target cannot be reached, rejects with an
   * error whose message is sent to the client.
   */
  async serve(service: PortService, stream: Duplex, signal: AbortSignal): Promise<void> {
    if (service.type === 'http') {
      await serveHttp(respondFrom(service.routes), stream, signal)
      return
    }
    if (this.#connections >= maxConnections)
      throw new Error(`simulated pods already use ${maxConnections} connections to other servers`)
    this.#connections++
    try {
      await this.#forward(service, stream, signal)
    } finally {
      this.#connections--
    }
  }

  async #forward({ host, port }: PortService & { type: 'target' }, stream: Duplex, signal: AbortSignal): Promise<void> {
    const target = await openTcp(await this.#resolve(host, port), port, (socket) =>
      signal.addEventListener('abort', () => socket.destroy(), { once: true }),
    )
    try {
      await Promise.all([pipeline(stream, target, { signal }), pipeline(target, stream, { signal })])
    } catch {
      // Ignore the error: the client or the target closed the connection.
    } finally {
      target.destroy()
      stream.destroy()
    }
  }
}
