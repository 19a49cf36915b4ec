/**
 * Credentials from a plugin, which is a program that prints credentials. The plugin runs when credentials are first
 * needed, when they have expired, and when the server rejects them. Concurrent requests wait for the same run.
 *
 * The plugin's standard error is shown to the user. Its standard output is limited in size and never shown, because it
 * contains secrets.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import { type CredentialSource, type Credentials, isToken } from './credentials.ts'
import { candidatesOf, type ExecPlugin } from './exec-plugin.ts'
import { ConfigError } from './kubeconfig-files.ts'

/** Cluster information for a plugin, with the field names of the kubeconfig. */
export type ExecCluster = JsonObject

export interface ExecSurroundings {
  readonly cluster: ExecCluster
  /** Whether the standard input of this program is a terminal. */
  readonly interactive: boolean
  readonly clock?: Clock
  /** Timeout of the plugin. Defaults to one minute, or ten minutes if the plugin may ask the user for input. */
  readonly timeoutMs?: number
  readonly env?: { readonly [name: string]: string | undefined }
}

const maxOutput = 1024 * 1024
/** Default timeouts in milliseconds. An interactive plugin may wait for the user. */
const maxMs = { alone: 60_000, interactive: 10 * 60_000 }

interface Got {
  readonly credentials: Credentials
  /** Expiry of the credentials in milliseconds since 1970. */
  readonly expires: number
}

export class ExecCredentials implements CredentialSource {
  readonly #plugin: ExecPlugin
  readonly #surroundings: ExecSurroundings
  readonly #clock: Clock
  #lastResult: Got | undefined
  #running: Promise<Got> | undefined

  constructor(plugin: ExecPlugin, surroundings: ExecSurroundings) {
    this.#plugin = plugin
    this.#surroundings = surroundings
    this.#clock = surroundings.clock ?? systemClock
  }

  async current(signal: AbortSignal): Promise<Credentials> {
    if (this.#lastResult !== undefined && this.#clock.now() < this.#lastResult.expires)
      return this.#lastResult.credentials
    return (await this.#run(signal)).credentials
  }

  async replace(refused: Credentials, signal: AbortSignal): Promise<Credentials | undefined> {
    const cachedCredentials = this.#lastResult?.credentials
    const fresh =
      cachedCredentials === refused || cachedCredentials === undefined
        ? (await this.#run(signal)).credentials
        : cachedCredentials
    return isSame(fresh, refused) ? undefined : fresh
  }

  /** Runs the plugin once for all concurrent requests. */
  #run(signal: AbortSignal): Promise<Got> {
    this.#running ??= this.#ask(signal).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #ask(signal: AbortSignal): Promise<Got> {
    const plugin = this.#plugin
    const interactive = isInteractive(plugin, this.#surroundings)
    const env = { ...(this.#surroundings.env ?? process.env), ...plugin.env }
    const info = {
      kind: 'ExecCredential',
      apiVersion: plugin.apiVersion,
      spec: { ...(plugin.provideClusterInfo ? { cluster: this.#surroundings.cluster } : {}), interactive },
    }
    const output = await runPlugin(plugin, {
      env: { ...env, [plugin.infoVariable]: JSON.stringify(info) },
      interactive,
      timeoutMs: this.#surroundings.timeoutMs ?? maxMs[interactive ? 'interactive' : 'alone'],
      signal,
    })
    this.#lastResult = readOutput(plugin, output)
    return this.#lastResult
  }
}

function isSame(one: Credentials, other: Credentials): boolean {
  return one.token === other.token && one.certificate?.certificate === other.certificate?.certificate
}

function isInteractive({ command, interactiveMode }: ExecPlugin, { interactive }: ExecSurroundings): boolean {
  if (interactiveMode === 'Always' && !interactive)
    throw new ConfigError(`the credential plugin ${command} needs a terminal, but standard input is not a terminal`)
  return interactiveMode !== 'Never' && interactive
}

interface Run {
  readonly env: { readonly [name: string]: string | undefined }
  readonly interactive: boolean
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Returns the output of the plugin. Throws ConfigError if the plugin cannot be started, fails, times out or prints too
 * much.
 */
async function runPlugin(plugin: ExecPlugin, { env, interactive, timeoutMs, signal }: Run): Promise<string> {
  await throwIfMissing(plugin, env.PATH ?? '')
  return await new Promise((resolve, reject) => {
    const child = spawn(plugin.command, [...plugin.args], {
      env,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      signal,
    })
    // Wait for the plugin itself to exit. A child process of the plugin may keep its output open for longer.
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      child.stdout.destroy()
      reject(new ConfigError(`the credential plugin ${plugin.command} did not exit within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxOutput) return void chunks.push(chunk)
      child.kill('SIGKILL')
      reject(new ConfigError(`the credential plugin ${plugin.command} printed more than ${maxOutput} bytes`))
    })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(signal.aborted ? signal.reason : cannotRun(plugin, (error as NodeJS.ErrnoException).code ?? error.message))
    })
    child.once('close', (code, endedBy) => {
      clearTimeout(timer)
      if (code === 0) return resolve(Buffer.concat(chunks).toString('utf8'))
      const failureText = code === null ? `was terminated by ${endedBy}` : `failed with exit code ${code}`
      reject(new ConfigError(`the credential plugin ${plugin.command} ${failureText}`))
    })
  })
}

/**
 * Throws an error if the program is not installed, which is common for new users. The kubeconfig may contain an install
 * hint for the message.
 */
async function throwIfMissing(plugin: ExecPlugin, path: string): Promise<void> {
  for (const file of candidatesOf(plugin.command, path)) {
    const code = await access(file, constants.X_OK).then(
      () => '',
      (error: NodeJS.ErrnoException) => error.code ?? 'ENOENT',
    )
    if (code === '') return
    if (code === 'EACCES') throw cannotRun(plugin, 'it is not executable')
  }
  throw cannotRun(plugin, 'it does not exist')
}

function cannotRun({ command, installHint }: ExecPlugin, why: string): ConfigError {
  const hint = installHint === undefined ? '' : `\n\n${installHint}`
  return new ConfigError(`cannot run the credential plugin ${command}: ${why}${hint}`)
}

function readOutput(plugin: ExecPlugin, output: string): Got {
  const refuse = (what: string) => new ConfigError(`the credential plugin ${plugin.command} ${what}`)
  const credential = parse(output)
  if (!isObject(credential)) throw refuse('did not print an ExecCredential as JSON (json parse error)')
  // As in other Kubernetes clients, the kind may be missing, but the apiVersion may not.
  const kind = own(credential, 'kind') || 'ExecCredential'
  if (kind !== 'ExecCredential' || own(credential, 'apiVersion') !== plugin.apiVersion)
    throw refuse(`did not print an ExecCredential in ${plugin.apiVersion}`)
  const status = own(credential, 'status')
  if (!isObject(status)) throw refuse('printed an ExecCredential without a status')
  return { credentials: credentialsOf(status, refuse), expires: expiryOf(status, refuse) }
}

function credentialsOf(status: JsonObject, refuse: (what: string) => ConfigError): Credentials {
  const text = (field: string): string | undefined => {
    const value = own(status, field) ?? ''
    if (typeof value !== 'string') throw refuse(`printed a status whose ${field} is not a string`)
    return value === '' ? undefined : value
  }
  const [token, certificate, key] = ['token', 'clientCertificateData', 'clientKeyData'].map(text)
  if ((certificate === undefined) !== (key === undefined))
    throw refuse('printed only one of clientCertificateData and clientKeyData')
  if (token === undefined && certificate === undefined)
    throw refuse('printed neither a token nor a certificate and its key')
  if (token !== undefined && !isToken(token)) throw refuse('printed a token with spaces or other invalid characters')
  if (certificate !== undefined && !isPair(certificate, key!))
    throw refuse('did not print a matching PEM certificate and key')
  return {
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined ? {} : { certificate: { certificate, key: key! } }),
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    process.getBuiltinModule('node:tls').createSecureContext({ ca: [], cert, key })
    return true
  } catch {
    return false
  }
}

function expiryOf(status: JsonObject, refuse: (what: string) => ConfigError): number {
  const stamp = own(status, 'expirationTimestamp')
  if (stamp === undefined || stamp === null) return Number.POSITIVE_INFINITY
  const time = typeof stamp === 'string' && rfc3339.test(stamp) ? Date.parse(stamp) : Number.NaN
  if (Number.isNaN(time)) throw refuse('printed an expirationTimestamp that is not in RFC 3339 format')
  return time
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined // The JSON parser's error is dropped because it quotes the output.
  }
}
