/** Runs the commands on all user pages, except the pages that other test files run. */
import { firstPages, languagePages, operatorPages, userPages } from './pages.ts'
import { testPages } from './run-page.ts'

const others = [...firstPages, ...languagePages, ...operatorPages]
testPages(userPages.filter((name) => !others.includes(name)))
