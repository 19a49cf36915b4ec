/**
 * The one place where the parts are joined: store, caches, kinds, identity, pipeline, listener. `startApiServer`
 * resolves when requests are answered; `stop` lets those under way finish and releases everything, in reverse order.
 */
import { setImmediate } from 'node:timers/promises'
import { chain } from '../admission/admission.ts'
import { type Namespace, type Namespaces, namespaceLifecycle } from '../admission/controls/namespace-lifecycle.ts'
import { type Authenticator, anonymousUser, firstOf } from '../authn/authenticator.ts'
import { clientCertificates } from '../authn/client-certificate.ts'
import { staticTokens } from '../authn/static-tokens.ts'
import { type Authorizer, alwaysAllow, alwaysDeny, openPaths, privilegedGroup, union } from '../authz/authorizer.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { UsageError } from '../base/flags.ts'
import { errorFields, type Log } from '../base/log.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import { Caches } from '../cache/caches.ts'
import type { Transport as ClientTransport } from '../client/transport.ts'
import { discoveryPaths } from '../http/discovery.ts'
import { dispatch, type PathHandler } from '../http/dispatch.ts'
import { Exchange } from '../http/exchange.ts'
import { type HealthCheck, healthPaths } from '../http/health.ts'
import { Listener } from '../http/listener.ts'
import { openApiPaths } from '../http/openapi/openapi-paths.ts'
import { pipeline } from '../http/pipeline.ts'
import { rootPaths, unknownPath } from '../http/root.ts'
import { answerErrors } from '../http/steps/answer-errors.ts'
import { authenticate } from '../http/steps/authenticate.ts'
import { authorize } from '../http/steps/authorize.ts'
import { resolveRequest } from '../http/steps/resolve-request.ts'
import { setDeadline } from '../http/steps/set-deadline.ts'
import { stamp } from '../http/steps/stamp.ts'
import { allKinds } from '../kinds/all.ts'
import type { User } from '../model/user.ts'
import { vendorOf } from '../model/vendor.ts'
import { apiLevel, version } from '../model/version.ts'
import { ContinueTokens } from '../registry/continue-token.ts'
import { readObject } from '../registry/read-stored.ts'
import { keyOf, type Resource, readMostRecent, serveKinds } from '../registry/resource.ts'
import type { Kind } from '../schema/kind.ts'
import type { Store } from '../store/store.ts'
import { claimProfile, continueTokenKey, createSystemNamespaces } from './bootstrap.ts'
import { type Certificates, openCertificates } from './certificates.ts'
import { type HandleAs, InProcess } from './in-process-transport.ts'
import type { AuthorizationMode, ServerOptions } from './options.ts'
import { readFlagFile } from './read-flag-file.ts'
import { openStore } from './store.ts'
import { checkStore } from './store-check.ts'

export interface ApiServer {
  /** Where it is: https://127.0.0.1:6443 */
  readonly url: string
  /** A way in for clients in this process, as this user. `stop` ends what is under way. */
  transport(user: User): ClientTransport
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
  const store = await openStore(options)
  try {
    const certificates = await openCertificates(options, clock)
    return await serve(options, { store, certificates, authenticator, authorizer, log, clock, kinds })
  } catch (error) {
    await store.close()
    throw error
  }
}

interface Parts {
  readonly store: Store
  readonly certificates: Certificates
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly log: Log
  readonly clock: Clock
  readonly kinds: readonly Kind[]
}

async function serve(
  options: ServerOptions,
  { store, certificates, authenticator, authorizer, log, clock, kinds }: Parts,
): Promise<ApiServer> {
  await claimProfile(store, options.profile)
  const caches = new Caches(store, (error) =>
    log.error('the feed of the caches broke; it is resumed', errorFields(error)),
  )
  const resources = await openResources(options, { store, caches, clock, kinds })
  await caches.start()
  await createSystemNamespaces(resources.find(({ kind }) => kind.kind === 'Namespace')!)

  const admission = chain([namespaceLifecycle(namespacesOf(resources))])
  let stopping = false
  const ready = [
    { name: 'store', check: () => checkStore(store, caches) },
    { name: 'shutdown', check: () => (stopping ? 'the server is stopping' : undefined) },
  ]
  const paths = servedPaths({ resources, ready, address: () => url.slice('https://'.length) })
  const answerError = answerErrors(vendorOf(options.profile), (error, { transport }) =>
    log.error('a request failed', {
      method: transport.method,
      target: transport.target.slice(0, 500),
      ...errorFields(error),
    }),
  )
  const deadline = setDeadline(clock, answerError)
  const handleAs: HandleAs = (identify) =>
    pipeline(
      [
        stamp,
        resolveRequest,
        deadline.step,
        identify,
        authorize(authorizer),
        dispatch({ resources, paths, admission }),
      ],
      answerError,
    )
  const handle = handleAs(authenticate(authenticator))
  const inProcess = new InProcess(handleAs, clock)
  const onFault = (error: unknown) => log.error('a connection failed', errorFields(error))
  const listener = await openListener(options, certificates, {
    onRequest: (transport) => void handle(new Exchange(transport, clock.monotonic())).catch(onFault),
    onError: onFault,
  }).catch(async (error: unknown) => {
    await caches.stop()
    throw error
  })

  const url = `https://${urlHost(options.advertiseAddress || options.bindAddress)}:${listener.port}`
  const renewal = new AbortController()
  await certificates.writeAdminConfig(url)
  certificates.keepFresh(url, {
    onRenewed: (tls) => listener.renew(tls),
    onError: (error) => log.error('a certificate could not be renewed', errorFields(error)),
    signal: renewal.signal,
  })

  return {
    url,
    transport: (user) => inProcess.transport(user),
    stop: async () => {
      stopping = true
      renewal.abort()
      await setImmediate()
      await inProcess.close()
      caches.endWatches()
      // What is under way still reads from the caches.
      await listener.close(options.shutdownGrace)
      deadline.close()
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
  return serveKinds(kinds, { vendor, store, caches, clock, continueTokens, lifetimeSeconds })
}

interface PathParts {
  readonly resources: readonly Resource[]
  readonly ready: readonly HealthCheck[]
  readonly address: () => string
}

/** The paths that are no resources; the first that knows a path answers. */
function servedPaths({ resources, ready, address }: PathParts): PathHandler[] {
  const discovery = discoveryPaths({ resources, address })
  const groups = resources.flatMap(({ group, apiVersion }) =>
    group === '' ? [`/api/${apiVersion}`] : [`/apis/${group}`, `/apis/${apiVersion}`],
  )
  const always = ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/healthz', '/livez', '/readyz', '/version']
  const listed = [...new Set([...always, ...groups])].sort()
  return [
    healthPaths([], ready),
    discovery,
    openApiPaths({ resources, vendor: resources[0]!.vendor, version }),
    rootPaths({ version, api: apiLevel }, () => listed),
    unknownPath,
  ]
}

function namespacesOf(resources: readonly Resource[]): Namespaces {
  const namespaces = resources.find(({ kind }) => kind.kind === 'Namespace')!
  // Every write asks for its namespace: it is read once per state of it, and forgotten with that.
  const read = new WeakMap<CachedObject, Namespace>()
  const known = (name: string) => {
    const found = namespaces.cache.get(keyOf(namespaces, '', name))
    if (found === undefined) return undefined
    const namespace = read.get(found) ?? { key: found.key, revision: found.revision, object: readObject(found.json) }
    read.set(found, namespace)
    return namespace
  }
  return { known, recent: (name) => readMostRecent(namespaces)?.then(() => known(name)) ?? known(name) }
}

async function openListener(
  options: ServerOptions,
  { tls }: Certificates,
  handlers: Pick<Parameters<typeof Listener.open>[0], 'onRequest' | 'onError'>,
): Promise<Listener> {
  const { bindAddress: host, securePort: port } = options
  try {
    return await Listener.open({ host, port, tls, ...handlers })
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

function makeAuthenticator(options: ServerOptions, clock: Clock): Authenticator {
  // Without a file every token is wrong, which is not the same as none.
  const tokens = options.tokenAuthFile === '' ? staticTokens('') : tokensOf(options.tokenAuthFile)
  const strategies = [clientCertificates(clock), tokens]
  const onlyAllow = options.authorizationMode.every((mode) => mode === 'AlwaysAllow')
  return firstOf(strategies, onlyAllow ? undefined : anonymousUser)
}

function tokensOf(file: string): Authenticator {
  const csv = readFlagFile('token-auth-file', file)
  try {
    return staticTokens(csv)
  } catch (error) {
    throw new UsageError(`--token-auth-file: ${file}: ${(error as Error).message}`)
  }
}

const modes: { readonly [M in AuthorizationMode]: Authorizer } = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny }

function makeAuthorizer(names: readonly AuthorizationMode[]): Authorizer {
  return union([
    privilegedGroup,
    openPaths(['/livez', '/readyz', '/healthz', '/version']),
    ...names.map((name) => modes[name]),
  ])
}

function urlHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return address.includes(':') ? `[${address}]` : address
}
