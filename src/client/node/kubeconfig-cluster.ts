/** The cluster entry of a kubeconfig: server URL, proxy and TLS verification. */
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import {
  checkPem,
  type Entry,
  fault,
  optional,
  optionalFlag,
  optionalText,
  pemOf,
  requiredText,
} from './config-entry.ts'
import { execGroups } from './exec-plugin.ts'
import type { HttpTransportOptions } from './http-transport.ts'

/**
 * Returns the options for a connection to the cluster. `server` overrides the server of the cluster. With `plain`, the
 * server may have an http URL.
 */
export function clusterOptions(
  cluster: Entry,
  { server, plain = false }: { readonly server?: string | undefined; readonly plain?: boolean | undefined },
): HttpTransportOptions {
  const authority = pemOf(cluster, 'certificate-authority')
  if (authority !== undefined) checkPem(cluster, 'certificate-authority', { ca: authority })
  const insecure = optionalFlag(cluster, 'insecure-skip-tls-verify')
  if (insecure && authority !== undefined)
    throw fault(cluster, 'insecure-skip-tls-verify', 'and certificate-authority contradict each other')
  const serverName = optionalText(cluster, 'tls-server-name')
  const proxy = proxyOf(cluster)
  return {
    server: server ?? serverOf(cluster, { plain }),
    ...(insecure ? { insecure } : {}),
    ...(serverName === undefined ? {} : { serverName }),
    ...(authority === undefined ? {} : { authority }),
    ...(proxy === undefined ? {} : { proxy }),
  }
}

/**
 * Returns the cluster information that credential plugins receive, in kubeconfig format. It includes the cluster's
 * extension for plugins.
 */
export function toldToPlugins(cluster: Entry, options: HttpTransportOptions): JsonObject {
  const { server, authority, insecure, serverName, proxy } = options
  const config = pluginConfig(cluster)
  return {
    server,
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    ...(proxy === undefined ? {} : { 'proxy-url': proxy }),
    ...(config === undefined ? {} : { config }),
  }
}

/** Returns the data for credential plugins from the `extensions` of the cluster entry. */
function pluginConfig(cluster: Entry): Json | undefined {
  const extensions = optional(cluster, 'extensions') ?? []
  if (!Array.isArray(extensions)) throw fault(cluster, 'extensions', 'is not a list')
  const names = execGroups().map(({ group }) => `${group}/exec`)
  const matchingExtension = extensions
    .filter(isObject)
    .find((extension) => names.includes(String(own(extension, 'name'))))
  return matchingExtension === undefined ? undefined : own(matchingExtension, 'extension')
}

function serverOf(cluster: Entry, { plain }: { readonly plain: boolean }): string {
  const server = requiredText(cluster, 'server')
  const plainToo = plain && URL.canParse(server) && new URL(server).protocol === 'http:'
  if (!plainToo && !isServer(server)) throw fault(cluster, 'server', 'is not a URL such as https://127.0.0.1:6443')
  return server
}

/** Whether the string is an https URL. */
export function isServer(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}

function proxyOf(cluster: Entry): string | undefined {
  const proxy = optionalText(cluster, 'proxy-url')
  if (proxy === undefined) return undefined
  if (!URL.canParse(proxy) || !['http:', 'https:'].includes(new URL(proxy).protocol))
    throw fault(cluster, 'proxy-url', 'is not a URL such as http://127.0.0.1:3128; only http and https are supported')
  return proxy
}
