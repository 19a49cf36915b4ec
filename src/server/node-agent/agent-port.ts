/**
 * The HTTPS port of a node agent: logs, exec, attach and port-forward of its pods. The agent requests its certificate
 * from the signer of serving certificates, and an administrator approves the request. Connections wait for the
 * certificate for a limited time.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Vendor } from '../../api/model/vendor.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'
import { Client } from '../../client/requests/client.ts'
import { type NodePort, openNodePort } from '../../cluster/node-port/node-port.ts'
import type { NodeRuntime } from '../../cluster/node-port/runtime.ts'
import type { ServingCertificate } from '../../cluster/node-port/serving-contexts.ts'
import { requestCertificate } from '../../tools/joining/node-certificate.ts'
import type { NodeAgentOptions } from '../flags/node-agent.ts'
import type { NodeCredentials } from './node-credentials.ts'

export interface AgentPortParts {
  readonly credentials: NodeCredentials
  readonly vendor: Vendor
  readonly clock: TimerClock
  readonly log: Log
  readonly runtime: NodeRuntime
  readonly signal: AbortSignal
}

const idleMs = 4 * 60 * 60 * 1000

export async function openAgentPort(
  { name, nodeIp, port, timeout }: NodeAgentOptions,
  { credentials, vendor, clock, log, runtime, signal }: AgentPortParts,
): Promise<NodePort> {
  const client = new Client(credentials.transport.send, { userAgent: vendor.nodeAgent })
  const names = { dns: [name], ips: isIP(nodeIp) === 0 ? [] : [nodeIp] }
  const request = async (): Promise<ServingCertificate> => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
    const onRequested = (request: string) => log.info('requested a serving certificate', { request })
    const wish = { vendor, nodeName: name, use: 'serving', names, signal: inTime, onRequested } as const
    const pair = await requestCertificate(client, wish)
    const { validFromDate: from, validToDate: to } = new X509Certificate(pair.certificate)
    return { ...pair, until: from.getTime() + (to.getTime() - from.getTime()) * 0.8 }
  }
  const opened = await openNodePort({
    host: nodeIp,
    port,
    vendor,
    clock,
    idleMs,
    log,
    client,
    node: (requestedNode) => (requestedNode === '' || requestedNode === name ? runtime : undefined),
    certificate: shared(request, clock),
    clientAuthorities: () => credentials.authority,
  })
  log.info('serving logs, exec and port-forward', { address: nodeIp, port: opened.port })
  return opened

  /**
   * Returns a function that shares one certificate request among all waiting connections. After a failed request, the
   * next connection starts a new one.
   */
  function shared(ask: () => Promise<ServingCertificate>, { now }: TimerClock): () => Promise<ServingCertificate> {
    let currentCertificate: ServingCertificate | undefined
    let asking: Promise<ServingCertificate> | undefined
    const askOnce = async () => {
      try {
        currentCertificate = await ask()
        return currentCertificate
      } catch (error) {
        log.warn('cannot get a serving certificate for the node', errorFields(error))
        throw error
      } finally {
        asking = undefined
      }
    }
    return async () => {
      if (currentCertificate !== undefined && now() < currentCertificate.until) return currentCertificate
      asking ??= askOnce()
      return await asking
    }
  }
}
