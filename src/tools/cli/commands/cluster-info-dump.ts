/** `orchctl cluster-info dump`: prints objects, events and logs for debugging a cluster. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, refusedFlag, text, toggle } from '../../../base/flags/flags.ts'
import { messageOf } from '../../../base/text/errors.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { objectPath, type ResourceType } from '../../../client/requests/resource-type.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { escapeLine, escapeText } from '../printers/escape.ts'
import { listOf, printDocument } from '../printers/objects.ts'
import { templateFlags, writeOutputFlag } from '../printers/output.ts'
import { fillTemplate } from '../printers/templates.ts'
import { defineCommand, refuseWords } from '../program/command.ts'
import { containersOf, type Pod } from '../streaming/pods.ts'

const flags = {
  outputDirectory: flag({
    name: 'output-directory',
    value: 'DIR',
    read: (value) => (value === '-' ? '' : value),
    help: 'output directory; - (the default) prints everything to standard output',
  }),
  namespaces: flag({
    name: 'namespaces',
    value: 'NAME,...',
    read: text,
    help: 'namespaces to dump; default: kube-system and the current namespace',
  }),
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'dump all namespaces' }),
  output: { ...writeOutputFlag, default: 'json' },
  ...templateFlags,
  podRunningTimeout: refusedFlag(
    'pod-running-timeout',
    'the dump reads logs from running pods only and does not wait for pods',
    {
      value: 'TIME',
    },
  ),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const clusterInfoDumpCommand = defineCommand({
  name: 'cluster-info dump',
  forms: ['[flags]'],
  about: `Print information for debugging a cluster: its nodes, and the events, services, workloads, pods and pod logs
in each namespace. Secrets and ConfigMaps are excluded.`,
  examples: ['orchctl cluster-info dump -A --output-directory=dump', 'orchctl cluster-info dump --namespaces=shop'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withTypedSession(context, options, async (session) => {
      const dump = new Dump(session, options)
      await dump.list(['nodes'], kinds.Node)
      for (const namespace of await namespacesOf(session, options)) await dump.namespace(namespace)
      if (options.outputDirectory !== '') context.out(`Cluster info dumped to ${options.outputDirectory}\n`)
    })
  },
})

async function namespacesOf({ client, namespace, context }: Session, options: Options): Promise<string[]> {
  if (options.namespaces !== '') return options.namespaces.split(',')
  const { items } = await client.list(kinds.Namespace, { signal: context.signal })
  const all = items.map(({ metadata }) => metadata.name ?? '')
  if (options.allNamespaces) return all
  return all.filter((name) => name === namespace || name.endsWith('-system'))
}

/** The resource types to dump. Pods come last because their logs follow. */
const dumpedTypes: readonly ResourceType[] = [
  kinds.Event,
  kinds.ReplicationController,
  kinds.Service,
  kinds.DaemonSet,
  kinds.Deployment,
  kinds.ReplicaSet,
  kinds.Pod,
]

class Dump {
  readonly #session: Session
  readonly #options: Options

  constructor(session: Session, options: Options) {
    this.#session = session
    this.#options = options
  }

  async namespace(namespace: string): Promise<void> {
    let pods: readonly ApiObject[] = []
    for (const type of dumpedTypes) pods = await this.list([namespace, type.plural], type, namespace)
    for (const pod of pods) await this.#logs(namespace, pod as Pod)
  }

  async list(place: readonly string[], type: ResourceType, namespace?: string): Promise<readonly ApiObject[]> {
    const { client, context } = this.#session
    const { items } = await client.list(type, { ...(namespace && { namespace }), signal: context.signal })
    const { output } = this.#options
    const ending = output.form === 'json' || output.form === 'yaml' ? output.form : 'txt'
    this.#write([...place.slice(0, -1), `${place.at(-1)}.${ending}`], await this.#text(items))
    return items
  }

  async #text(items: readonly ApiObject[]): Promise<string> {
    const { output } = this.#options
    if (output.form === 'name')
      return items.map(({ kind, metadata }) => `${escapeLine(`${kind.toLowerCase()}/${metadata.name}`)}\n`).join('')
    if (output.form === 'template') return await fillTemplate(output, listOf(items), this.#options)
    return await printDocument(listOf(items), output.form === 'yaml' ? 'yaml' : 'json')
  }

  async #logs(namespace: string, pod: Pod): Promise<void> {
    const name = pod.metadata.name ?? ''
    for (const { name: container = '' } of containersOf(pod)) {
      const title = `logs for container ${escapeLine(container)} of pod ${escapeLine(namespace)}/${escapeLine(name)}`
      const content = await this.#log({ namespace, name }, container)
      if (this.#options.outputDirectory === '')
        this.#session.context.out(`==== START ${title} ====\n${content}==== END ${title} ====\n`)
      else
        this.#write([namespace, name, 'logs.txt'], `==== START ${title} ====\n${content}==== END ${title} ====\n`, 'a')
    }
  }

  async #log(name: { namespace: string; name: string }, container: string): Promise<string> {
    const { client, context } = this.#session
    try {
      const path = objectPath(kinds.Pod, name, 'log')
      const { body } = await client.open({
        method: 'GET',
        path,
        query: { container },
        accept: '*/*',
        signal: context.signal,
      })
      const decoder = new TextDecoder()
      let content = ''
      for await (const chunk of body) content += decoder.decode(chunk, { stream: true })
      return escapeText(content + decoder.decode())
    } catch (error) {
      context.signal.throwIfAborted()
      return `cannot read the logs: ${escapeLine(messageOf(error))}\n`
    }
  }

  #write(place: readonly string[], content: string, flag: 'w' | 'a' = 'w'): void {
    const { context } = this.#session
    if (this.#options.outputDirectory === '') {
      context.out(content)
      return
    }
    // Names come from the server and must not point outside the directory.
    const steps = place.map((step) => step.replaceAll(/[^\w.-]/g, '_').replace(/^\.+$/, '_'))
    const file = join(resolve(context.directory, this.#options.outputDirectory), ...steps)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { flag })
  }
}
