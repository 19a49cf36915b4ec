/** Implements `orchctl create namespace`. */
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { defineGenerator } from './generator.ts'

export const createNamespaceCommand = defineGenerator({
  name: 'namespace',
  about: 'Create a namespace.',
  examples: ['orchctl create namespace shop'],
  flags: {},
  type: kinds.Namespace,
  make: () => ({}),
})
