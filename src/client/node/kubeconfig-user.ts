/**
 * Credentials of a kubeconfig user: a certificate, a token or token file, a user name and password, a credential plugin
 * (`exec`), a renewable ID token (`auth-provider`), and the user to impersonate.
 */
import { readFile } from 'node:fs/promises'
import { isObject, type Json, own } from '../../api/json/json.ts'
import {
  besideConfig,
  checkPem,
  type Entry,
  fault,
  optional,
  optionalText,
  pemOf,
  readNamed,
  refuseUnsupported,
  textList,
} from './config-entry.ts'
import { type CredentialSource, isToken, loadedLater } from './credentials.ts'
import type { ExecCluster } from './exec-credentials.ts'
import { execPluginOf } from './exec-plugin.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import { oidcUserOf } from './oidc-user.ts'

/**
 * Credentials that do not change, for kubeconfigs such as those for webhooks, in which each user entry represents a
 * server.
 */
export interface UserCredentials {
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly token: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
}

/** Reads the credentials of a user. Throws an error for plugins and renewable tokens, which are not supported here. */
export function fixedCredentials(user: Entry): UserCredentials {
  refuseUnsupported(user, ['exec', 'auth-provider'], 'is not supported here: use a token, a certificate or a password')
  refuseUnsupported(user, ['as', 'as-uid', 'as-groups', 'as-user-extra'], 'is not supported here')
  const file = optionalText(user, 'tokenFile')
  const token = optionalText(user, 'token') ?? (file && readNamed(user, 'tokenFile', file).trim())
  return {
    ...certificateOf(user),
    token: token === undefined ? undefined : checkToken(user, 'token', token),
    username: optionalText(user, 'username'),
    password: optionalText(user, 'password'),
  }
}

/** Returns the transport options of a user. `cluster` is the information that a credential plugin receives. */
export function userOptions(
  user: Entry,
  { cluster, interactive }: { cluster: ExecCluster; interactive: boolean },
): Omit<HttpTransportOptions, 'server'> {
  const { certificate, key } = certificateOf(user)
  const token = tokenOf(user)
  const credentials = sourceOf(user, { cluster, interactive })
  const headers = { ...basicOf(user), ...impersonationOf(user) }
  return {
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(certificate === undefined || key === undefined ? {} : { certificate: { certificate, key } }),
    ...(token === undefined ? {} : { token }),
    ...(credentials === undefined ? {} : { credentials }),
  }
}

/**
 * Returns the user's plugin or token renewal as a source of credentials. Returns undefined if the user has a fixed
 * token, which takes precedence.
 */
function sourceOf(
  user: Entry,
  { cluster, interactive }: { cluster: ExecCluster; interactive: boolean },
): CredentialSource | undefined {
  const exec = optional(user, 'exec')
  const provider = optional(user, 'auth-provider')
  if (exec !== undefined && provider !== undefined)
    throw fault(user, 'auth-provider', 'and exec are mutually exclusive')
  if (exec !== undefined) {
    const plugin = execPluginOf({ ...user, content: objectOf(user, 'exec', exec), title: `${user.title}: exec` })
    return loadedLater(async () => {
      const { ExecCredentials } = await import('./exec-credentials.ts')
      return new ExecCredentials(plugin, { cluster, interactive })
    })
  }
  if (provider === undefined) return undefined
  const oidc = oidcUserOf(user, objectOf(user, 'auth-provider', provider))
  return loadedLater(async () => {
    const { OidcCredentials } = await import('./oidc-credentials.ts')
    return new OidcCredentials(oidc)
  })
}

function objectOf(entry: Entry, field: string, value: Json) {
  if (!isObject(value)) throw fault(entry, field, 'is not an object')
  return value
}

function certificateOf(user: Entry): Pick<UserCredentials, 'certificate' | 'key'> {
  const certificate = pemOf(user, 'client-certificate')
  const key = pemOf(user, 'client-key')
  if ((certificate === undefined) !== (key === undefined))
    throw fault(user, 'client-certificate', 'and client-key must be specified together')
  if (certificate !== undefined) checkPem(user, 'client-certificate', { cert: certificate, key })
  return { certificate, key }
}

/**
 * Returns a function that reads the token file before every request, because a renewed token replaces the content of
 * the file.
 */
function tokenOf(user: Entry): (() => string | Promise<string>) | undefined {
  const file = optionalText(user, 'tokenFile')
  const token = optionalText(user, 'token')
  if (file !== undefined) {
    readNamed(user, 'tokenFile', file)
    const path = besideConfig(user, file)
    return async () => checkToken(user, 'tokenFile', (await readFile(path, 'utf8')).trim())
  }
  return token === undefined ? undefined : () => checkToken(user, 'token', token)
}

function checkToken(user: Entry, field: string, token: string): string {
  if (!isToken(token)) throw fault(user, field, 'is not a token: it has spaces or other invalid characters')
  return token
}

function basicOf(user: Entry): { authorization?: string } {
  const username = optionalText(user, 'username')
  const password = optionalText(user, 'password')
  if (username === undefined && password === undefined) return {}
  if (username === undefined || password === undefined)
    throw fault(user, 'username', 'and password must be specified together')
  if (optionalText(user, 'token') !== undefined) throw fault(user, 'token', 'and username are mutually exclusive')
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** Returns the headers for impersonation. */
function impersonationOf(user: Entry): { [name: string]: string | readonly string[] } {
  const name = optionalText(user, 'as')
  const uid = optionalText(user, 'as-uid')
  const groups = textList(user, 'as-groups')
  const extra = extraOf(user)
  if (name === undefined) {
    const alone = [
      [uid !== undefined, 'as-uid'],
      [groups.length > 0, 'as-groups'],
      [extra.length > 0, 'as-user-extra'],
    ].find(([isThere]) => isThere)
    if (alone === undefined) return {}
    throw fault(user, String(alone[1]), 'is set without impersonating a user: specify one with `as`')
  }
  return {
    'impersonate-user': name,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values])),
  }
}

function extraOf(user: Entry): [string, string[]][] {
  const extra = optional(user, 'as-user-extra')
  if (extra === undefined) return []
  const content = objectOf(user, 'as-user-extra', extra)
  const entry = { ...user, content, title: `${user.title}: as-user-extra` }
  return Object.keys(content)
    .filter((key) => own(content, key) !== null)
    .map((key) => [key.toLowerCase(), textList(entry, key)])
}
