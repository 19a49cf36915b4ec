/** Defines the sources from which commands read objects. */

/** A file, a directory, a URL, `-` for standard input, or a kustomization directory. */
export type FileName = string | { readonly kustomize: string }

export interface Source {
  /** Name of the source as the user specified it. */
  readonly name: string
  readonly text: string
}
