/**
 * The one place where the parts are joined: store, caches, kinds, identity, pipeline, listener. `startApiServer`
 * resolves when requests are answered; `stop` lets those under way finish and releases everything, in reverse order.
 */
import { setImmediate } from 'node:timers/promises'
import { chain } from '../admission/admission.ts'
import { certificateSubjectRestriction } from '../admission/controls/certificate-subject-restriction.ts'
import { namespaceLifecycle } from '../admission/controls/namespace-lifecycle.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import type { Authorizer } from '../authz/authorizer.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import { errorFields, type Log } from '../base/log.ts'
import { openFileLimit } from '../base/open-files.ts'
import { Caches } from '../cache/caches.ts'
import type { Transport as ClientTransport } from '../client/transport.ts'
import { Exchange } from '../http/exchange.ts'
import { Listener } from '../http/listener.ts'
import { authenticate } from '../http/steps/authenticate.ts'
import { allKinds } from '../kinds/all.ts'
import type { User } from '../model/user.ts'
import { vendorOf } from '../model/vendor.ts'
import { ContinueTokens } from '../registry/continue-token.ts'
import { HistoryReaders } from '../registry/history-readers.ts'
import { type Resource, serveKinds } from '../registry/resource.ts'
import type { Kind } from '../schema/kind.ts'
import type { Store, StoreError } from '../store/store.ts'
import { claimProfile, continueTokenKey, createSystemNamespaces } from './bootstrap.ts'
import { type Certificates, openCertificates } from './certificates.ts'
import { makeAuthenticator, makeAuthorizer } from './identity.ts'
import { InProcess } from './in-process-transport.ts'
import { knownNamespaces } from './known-namespaces.ts'
import type { ServerOptions } from './options.ts'
import { handleRequests } from './request-handling.ts'
import { servedPaths } from './served-paths.ts'
import { openStore } from './store.ts'
import { checkStore, leftOut, tellUnreadable } from './store-check.ts'

export interface ApiServer {
  /** Where it is: https://127.0.0.1:6443 */
  readonly url: string
  /** How many watches are under way. */
  readonly watches: number
  /** A way in for clients in this process, as this user. `stop` ends what is under way. */
  transport(user: User): ClientTransport
  /**
   * Resolves with the reason when the store can never be written again. From then on the server is not ready; it
   * answers until it is stopped, which is for its owner to do.
   */
  readonly failed: Promise<StoreError>
  stop(): Promise<void>
}

export interface Environment {
  readonly log: Log
  readonly clock?: Clock
  /** What is served; all built-in kinds unless said otherwise. */
  readonly kinds?: readonly Kind[]
}

export async function startApiServer(
  options: ServerOptions,
  { log, clock = systemClock, kinds = allKinds }: Environment,
): Promise<ApiServer> {
  const authenticator = makeAuthenticator(options, clock)
  const authorizer = makeAuthorizer(options.authorizationMode)
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<StoreError>()
  const store = await openStore(options, { onFailed, log })
  try {
    const certificates = await openCertificates(options, clock)
    return await serve(options, { store, failed, certificates, authenticator, authorizer, log, clock, kinds })
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Parts {
  readonly store: Store
  readonly failed: Promise<StoreError>
  readonly certificates: Certificates
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly log: Log
  readonly clock: Clock
  readonly kinds: readonly Kind[]
}

async function serve(
  options: ServerOptions,
  { store, failed, certificates, authenticator, authorizer, log, clock, kinds }: Parts,
): Promise<ApiServer> {
  let failure: StoreError | undefined
  void failed.then((error) => {
    failure = error
  })
  await claimProfile(store, options.profile)
  const caches = new Caches(store, {
    onError: (error) => {
      if (failure === undefined) log.error('the feed of the caches broke; it is resumed', errorFields(error))
    },
    onUnreadable: tellUnreadable(log),
  })
  const resources = await openResources(options, { store, caches, clock, kinds })
  await caches.start()
  const namespaces = resources.find(({ kind }) => kind.kind === 'Namespace')!
  await createSystemNamespaces(namespaces)

  const vendor = vendorOf(options.profile)
  let stopping = false
  const ready = [
    { name: 'store', check: () => checkStore(store, caches, failure) },
    { name: 'objects', check: () => undefined, note: () => leftOut(caches) },
    { name: 'shutdown', check: () => (stopping ? 'the server is stopping' : undefined) },
  ]
  const routes = {
    resources,
    paths: servedPaths({ resources, ready, address: () => url.slice('https://'.length) }),
    admission: chain([namespaceLifecycle(knownNamespaces(namespaces)), certificateSubjectRestriction(vendor)]),
  }
  const handling = handleRequests({ vendor, authorizer, routes, log, clock })
  const handle = handling.handleAs(authenticate(authenticator))
  const inProcess = new InProcess(handling.handleAs, clock)
  const onFault = (error: unknown) => log.error('a connection failed', errorFields(error))
  const giveUp = async (error: unknown): Promise<never> => {
    handling.close()
    await caches.stop()
    throw error
  }
  const listener = await openListener(options, certificates, {
    onRequest: (transport) => void handle(new Exchange(transport, clock.monotonic())).catch(onFault),
    onError: onFault,
  }).catch(giveUp)

  const url = `https://${urlHost(options.advertiseAddress || options.bindAddress)}:${listener.port}`
  const renewal = new AbortController()
  await certificates.writeAdminConfig(url).catch(async (error: unknown) => {
    await listener.close(0)
    return await giveUp(error)
  })
  certificates.keepFresh(url, {
    onRenewed: (tls) => listener.renew(tls),
    onError: (error) => log.error('a certificate could not be renewed', errorFields(error)),
    signal: renewal.signal,
  })

  return {
    url,
    get watches() {
      return caches.watchers
    },
    transport: (user) => inProcess.transport(user),
    failed,
    stop: async () => {
      stopping = true
      renewal.abort()
      await setImmediate()
      await inProcess.close()
      caches.endWatches()
      // What is under way still reads from the caches.
      await listener.close(options.shutdownGrace)
      handling.close()
      await caches.stop()
      await store.close()
    },
  }
}

async function openResources(
  options: ServerOptions,
  { store, caches, clock, kinds }: { store: Store; caches: Caches; clock: Clock; kinds: readonly Kind[] },
): Promise<Resource[]> {
  const vendor = vendorOf(options.profile)
  const continueTokens = new ContinueTokens(await continueTokenKey(store))
  const lifetimeSeconds = Math.ceil(options.eventTtl / 1000)
  const historyReaders = new HistoryReaders()
  return serveKinds(kinds, { vendor, store, caches, clock, continueTokens, historyReaders, lifetimeSeconds })
}

async function openListener(
  options: ServerOptions,
  { tls }: Certificates,
  handlers: Pick<Parameters<typeof Listener.open>[0], 'onRequest' | 'onError'>,
): Promise<Listener> {
  const { bindAddress: host, securePort: port } = options
  try {
    const openFiles = openFileLimit()
    return await Listener.open({ host, port, tls, ...handlers, ...(openFiles === undefined ? {} : { openFiles }) })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `port ${port} on ${host} is in use: stop what listens there, or choose another with --secure-port`,
      )
    if (code === 'EACCES')
      throw new UsageError(
        `port ${port} needs more rights than this user has: choose one above 1023 with --secure-port`,
      )
    if (code === 'EADDRNOTAVAIL')
      throw new UsageError(`this machine has no address ${host}: choose another with --bind-address`)
    throw error
  }
}

function urlHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return address.includes(':') ? `[${address}]` : address
}
