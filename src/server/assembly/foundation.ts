/**
 * Opens the resources on which all other parts of the server depend: configuration files, the store, keys and
 * certificates.
 */

import { vendorOf } from '../../api/model/vendor.ts'
import { DeniedCertificates } from '../../apiserver/authn/denied-certificates.ts'
import { nodeClientCertificates } from '../../apiserver/authn/node-client-certificates.ts'
import { systemClock } from '../../base/time/clock.ts'
import { openCertificates } from '../certificates/certificates.ts'
import { ClientAuthorities } from '../certificates/client-authorities.ts'
import { shareAuthority } from '../certificates/shared-keys.ts'
import type { ServerOptions } from '../flags/options.ts'
import { openReloading } from '../flags/reloading.ts'
import { openFrontProxy } from '../identity/front-proxy.ts'
import { readIdentity } from '../identity/identity.ts'
import { openAccountTokens, readGivenKeys, settleKeys } from '../identity/service-account-tokens.ts'
import { settleEmulatedVersion } from '../store/emulated-version.ts'
import { claimProfile } from '../store/profile.ts'
import { openStore } from '../store/store.ts'
import { openAudit } from '../telemetry/audit.ts'
import { openMetrics } from '../telemetry/metrics.ts'
import { openEarlyPort, openWaitingPort } from './early-port.ts'
import type { FoundationContext } from './environment.ts'
import { followNodeClient } from './ways-to-nodes.ts'

/** The parts of the server that `openFoundation` opens, such as the store and the keys. */
export type Foundation = Awaited<ReturnType<typeof openFoundation>>

/** Opens the files specified by flags, the store, the keys and the certificates. */
export async function openFoundation(options: ServerOptions, context: FoundationContext) {
  const { log, clock, opened, worker, stopping, store: givenStore } = context
  const vendor = vendorOf(options.profile)
  const reloading = openReloading(log)
  opened.defer(() => reloading.close())
  const authorities = new ClientAuthorities(options, reloading)
  const denied = new DeniedCertificates()
  const nodeClient = followNodeClient(options, reloading, log)
  const isNodeClient = nodeClientCertificates(() => nodeClient.pair?.certificate)
  const identify = await readIdentity(options, { clock, log, authorities, denied, isNodeClient, reloading, opened })
  const givenKeys = readGivenKeys(options)
  const metrics = openMetrics(systemClock)
  const earlyPortParts = { startTime: clock.monotonic(), clock, log, opened, portSharing: worker }
  const waiting = await openWaitingPort(options, earlyPortParts)
  const storeParts = { log, clock, metrics: metrics.store, providedStore: givenStore, worker, stopping }
  const { store, raw, failed, notice } = await openStore(options, storeParts)
  opened.defer(() => store.close())
  // Determine the version first, because a new store can be recognized only before the profile is recorded.
  const emulatedVersion = worker?.emulatedVersion ?? (await settleEmulatedVersion(store, options))
  const auditParts = { vendor, clock: systemClock, log, reloading, worker, opened, metrics: metrics.audit }
  const audited = await openAudit({ ...options, emulatedVersion }, auditParts)
  await claimProfile(store, options.profile)
  await shareAuthority(options, store, systemClock)
  const certificateParts = { clock: systemClock, store, log, authorities, reloading, worker, opened }
  const certificates = await openCertificates(options, certificateParts)
  await waiting?.listener.close(0)
  const earlyPort = await openEarlyPort(options, {
    ...earlyPortParts,
    certificates,
    counting: worker?.counting,
  })
  const frontProxy = await openFrontProxy({ ...options, emulatedVersion }, certificateParts)
  const accountTokens = openAccountTokens(options, await settleKeys(givenKeys, options, store))
  return {
    vendor,
    emulatedVersion,
    reloading,
    authorities,
    denied,
    identify,
    certificates,
    frontProxy,
    accountTokens,
    nodeClient,
    metrics,
    audited,
    store,
    raw,
    failed,
    notice,
    earlyPort,
  }
}
