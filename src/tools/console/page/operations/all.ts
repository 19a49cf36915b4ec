/** The list of work pages in the order of the sidebar. The frame, the sidebar and the palette use it. */
import type { JSX } from 'preact'
import { AccessPage } from './access.tsx'
import { AdmissionPage } from './admission.tsx'
import { CertificatesPage } from './certificates.tsx'
import { MapPage } from './map.tsx'
import { NamespacesPage } from './namespaces.tsx'
import { QuotasPage } from './quotas.tsx'

/** A page with its own entry in the sidebar, at `#/operations/<name>`. */
export interface WorkPage {
  readonly name: string
  /** Title of the page as shown in the sidebar. */
  readonly title: string
  /** Title of the page in the palette. By default, the same as in the sidebar. */
  readonly paletteTitle?: string
  readonly Page: () => JSX.Element
}

/** The work pages, in the order of the sidebar. */
export const workPages: readonly WorkPage[] = [
  { name: 'map', title: 'Nodes and pods', Page: MapPage },
  { name: 'certificates', title: 'Certificate requests', Page: CertificatesPage },
  { name: 'access', title: 'Access', paletteTitle: 'Access: who can, and why', Page: AccessPage },
  { name: 'admission', title: 'Admission', Page: AdmissionPage },
  { name: 'namespaces', title: 'Namespaces', paletteTitle: 'Namespaces in termination', Page: NamespacesPage },
  { name: 'quotas', title: 'Quotas', Page: QuotasPage },
]
