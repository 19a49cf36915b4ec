/** `orchctl kustomize`: the objects of a kustomization, as `apply -k` would apply them. */
import { UsageError } from '../../base/flags.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { printDocument } from '../printers/objects.ts'

export const kustomizeCommand = defineCommand({
  name: 'kustomize',
  forms: ['[DIR]'],
  about: `Prints the objects of a kustomization, which is described by the file kustomization.yaml of a directory.

Built are resources, bases, components, patches (strategic, JSON, with targets), generators of ConfigMaps and Secrets,
names, namespaces, labels, annotations, images, replicas and vars. Anything else is refused by its name. Nothing is loaded
from the network or from outside the directories that are named, and no program is run.`,
  examples: ['orchctl kustomize overlays/production', 'orchctl apply -k overlays/production', 'orchctl diff -k .'],
  flags: connectionFlags,
  run: async (context, { words }) => {
    const [directory = '.', ...more] = words
    if (more.length > 0) throw new UsageError('name one directory with a kustomization.yaml')
    const { buildKustomization } = await import('../kustomize/build.ts')
    const objects = await buildKustomization(context, directory)
    const documents = await Promise.all(objects.map((object) => printDocument(object, 'yaml')))
    context.out(documents.join('---\n'))
  },
})
