/**
 * The catalogue: every connector, platform server and environment server this gateway knows, one line each.
 * @module
 */
import { defineCatalogue } from '../src/connector/define.ts'
import { agentmail } from './agentmail.ts'
import { analytics } from './analytics.ts'
import { browser } from './browser.ts'
import { cloudflare } from './cloudflare.ts'
import { contentsquare } from './contentsquare.ts'
import { dataforseo } from './dataforseo.ts'
import { figma } from './figma.ts'
import { firecrawl } from './firecrawl.ts'
import { github } from './github.ts'
import { goals } from './goals.ts'
import { googleads } from './googleads.ts'
import { memory } from './memory.ts'
import { microsoftads } from './microsoftads.ts'
import { project } from './project.ts'
import { railway } from './railway.ts'
import { sandbox } from './sandbox.ts'
import { sandboxEgress } from './sandbox-egress.ts'
import { searchconsole } from './searchconsole.ts'
import { seo } from './seo.ts'
import { sheets } from './sheets.ts'
import { shopify } from './shopify.ts'
import { skills } from './skills.ts'
import { tailscale } from './tailscale.ts'
import { team } from './team.ts'
import { transcripts } from './transcripts.ts'
import { writer } from './writer.ts'

export const connectors = defineCatalogue([
  shopify,
  dataforseo,
  firecrawl,
  googleads,
  searchconsole,
  analytics,
  sheets,
  microsoftads,
  figma,
  github,
  agentmail,
  cloudflare,
  contentsquare,
  railway,
  tailscale,
  writer,
  seo,
  memory,
  project,
  goals,
  transcripts,
  skills,
  team,
  sandbox,
  browser,
  sandboxEgress,
])
