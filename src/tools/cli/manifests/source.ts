/** What users name to read objects from, and the texts that come of it. */

/** A file, a directory, an address or `-`; or the directory of a kustomization. */
export type FileName = string | { readonly kustomize: string }

export interface Source {
  /** As the user knows it. */
  readonly name: string
  readonly text: string
}
