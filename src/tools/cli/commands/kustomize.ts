/** Implements `orchctl kustomize`, which prints the objects of a kustomization as `apply -k` would apply them. */
import { statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { JsonObject } from '../../../api/json/json.ts'
import { asObject } from '../../../api/model/object.ts'
import { flag, text, UsageError } from '../../../base/flags/flags.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { printDocument } from '../printers/objects.ts'
import { defineCommand } from '../program/command.ts'

export const kustomizeCommand = defineCommand({
  name: 'kustomize',
  forms: ['[DIR]'],
  about: `Print the objects in a kustomization, a directory with a kustomization.yaml file.

The command supports resources, bases, components, patches (strategic merge and JSON, with or without targets), ConfigMap
and Secret generators, names, namespaces, labels, annotations, images, replicas and vars. All other fields are rejected.
The command loads nothing from the network or from outside the named directories, and runs no programs.`,
  examples: ['orchctl kustomize overlays/production', 'orchctl apply -k overlays/production', 'orchctl diff -k .'],
  flags: {
    output: flag({
      name: 'output',
      letter: 'o',
      value: 'FILE',
      read: text,
      help: 'output file, or directory in which to write one file per object',
    }),
    ...connectionFlags,
  },
  run: async (context, { options, words }) => {
    const [directory = '.', ...more] = words
    if (more.length > 0) throw new UsageError('specify a directory with a kustomization.yaml')
    const { buildKustomization } = await import('../kustomize/build.ts')
    const objects = await buildKustomization(context, directory)
    const documents = await Promise.all(objects.map((object) => printDocument(object, 'yaml')))
    if (options.output === '') return context.out(documents.join('---\n'))
    const target = resolve(context.directory, options.output)
    if (!statSync(target, { throwIfNoEntry: false })?.isDirectory())
      return writeFileSync(target, documents.join('---\n'))
    for (const [i, object] of objects.entries()) writeFileSync(join(target, fileNameOf(object)), documents[i]!)
  },
})

/**
 * Returns a file name such as `apps_v1_deployment_web.yaml`. Replaces characters in object names that could make the
 * path point to another directory.
 */
function fileNameOf(object: JsonObject): string {
  const { apiVersion, kind, metadata } = asObject(object)
  const parts = [metadata.namespace ?? '', ...apiVersion.split('/'), kind, metadata.name ?? '']
  const name = parts.filter((part) => part !== '').join('_')
  return `${name.toLowerCase().replaceAll(/[^\w.-]/g, '_')}.yaml`
}
