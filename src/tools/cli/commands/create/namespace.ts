/** `orchctl create namespace` */
import { defineGenerator } from './generator.ts'

export const createNamespaceCommand = defineGenerator({
  name: 'namespace',
  about: 'Creates a namespace.',
  examples: ['orchctl create namespace shop'],
  flags: {},
  type: { group: 'core', version: 'v1', kind: 'Namespace', namespaced: false },
  make: () => ({}),
})
