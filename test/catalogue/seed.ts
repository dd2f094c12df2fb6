/**
 * The tables of seed 001, typed from its text and from nothing else, so that the catalogue, the policy files and the
 * switches can be held against them. `seed-text.test.ts` holds these tables against the text itself.
 * @module
 */

const of = (server: string, names: string): string[] => names.split(/\s+/).map((name) => `mcp__${server}__${name}`)

export const BUILTINS = ['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'WebSearch', 'WebFetch']
export const READ_ONLY_BUILTINS = ['Read', 'Glob', 'Grep', 'WebSearch', 'WebFetch']
export const NEVER_OFFERED = ['Agent', 'NotebookEdit', 'TodoWrite']

/** "Built-in Claude Code tools": local chat, sandbox chat, coworker, goal agent, reviewer, read-only route. */
export const BUILTIN_TABLE: Record<string, string> = {
  Bash: 'Yes | No | If the profile asks | No | No | No',
  Read: 'Yes | No | If the profile asks | Yes | No | Yes',
  Write: 'Yes | No | If the profile asks | No | No | No',
  Edit: 'Yes | No | If the profile asks | No | No | No',
  Glob: 'Yes | No | If the profile asks | Yes | No | Yes',
  Grep: 'Yes | No | If the profile asks | Yes | No | Yes',
  WebSearch: 'Yes | Yes | If the profile asks | Yes | No | Yes',
  WebFetch: 'Yes | Yes | If the profile asks | Yes | No | Yes',
}

/** "Platform tools". `when` is the seed's third column. */
export const NOTES = of(
  'memory',
  'memory_read memory_search memory_list memory_write memory_append memory_review memory_merge',
)
export const STANDING = of('memory', 'soul_update goals_update')
export const PROJECT = of('project', 'project_list project_read project_write project_append project_delete')
export const GOALS = of('goals', 'goals_status goals_ask goals_propose goals_note')
export const TRANSCRIPTS = of('transcripts', 'transcript_search transcript_read')
export const SKILLS = of('skills', 'load_skill read_skill_file')
export const TEAM = of('team', 'team_roster team_assign team_status team_result team_cancel')
export const PLATFORM = [
  { tools: NOTES, when: 'Always', circumstances: [] },
  { tools: STANDING, when: 'Always; each call asks a person when approvals are on', circumstances: [] },
  { tools: PROJECT, when: 'Always', circumstances: [] },
  { tools: GOALS, when: 'When the goals engine is on', circumstances: ['goals-engine'] },
  { tools: TRANSCRIPTS, when: 'Always for a person; never for a coworker', circumstances: [] },
  { tools: SKILLS, when: 'When the brand has at least one skill', circumstances: ['brand-has-skill'] },
  { tools: TEAM, when: 'When the brand has at least one coworker', circumstances: ['brand-has-coworker'] },
]

/** "Environment tools (E2B only)". */
export const SANDBOX = of('sandbox', 'bash read_file write_file')
export const BROWSER = of('browser', 'browse_text browse_screenshot')
export const LOGINS = of('browser', 'list_logins start_login finish_login')
export const EGRESS = of('sandbox_egress', 'sandbox_allow_host')
export const ENVIRONMENT = [
  { tools: SANDBOX, when: 'Every E2B session', needs: ['e2b'] },
  {
    tools: BROWSER,
    when: '`SANDBOX_ALLOW_BROWSER` is exactly `true` and a browser provider is configured',
    needs: ['e2b', 'browser-provider', 'SANDBOX_ALLOW_BROWSER on'],
  },
  {
    tools: LOGINS,
    when: 'Browserbase is the provider and `BROWSERBASE_PERSISTENT_LOGINS` is exactly `true`',
    needs: ['e2b', 'browser-provider', 'SANDBOX_ALLOW_BROWSER on', 'browserbase', 'BROWSERBASE_PERSISTENT_LOGINS on'],
  },
  {
    tools: EGRESS,
    when: 'Person chat with approvals on and the sandbox in allowlist mode. Never in a coworker run, the goal agent or an inbound email turn',
    needs: ['e2b', 'REQUIRE_WRITE_APPROVAL on', 'SANDBOX_EGRESS off'],
  },
]

/** "Connector tools" and "The read table". `other`: write or spend tools by name; `bills`: every call bills. */
export interface ConnectorRow {
  readonly slug: string
  readonly title: string
  readonly read: readonly string[]
  readonly other: readonly string[]
  readonly bills?: boolean
  /** The read table's third column. */
  readonly never: readonly string[]
  readonly says: string
}

const SHOPIFY_GRAPHQL = of('shopify', 'shopify_admin_graphql')
const SHEETS_WRITES = of('sheets', 'sheets_export sheets_append')
export const GITHUB_WRITES = of(
  'github',
  'github_create_branch github_commit_files github_open_pull_request github_comment',
)
export const MAIL_DRAFT = of('agentmail', 'agentmail_create_draft')
export const MAIL_SENDS = of(
  'agentmail',
  'agentmail_send_message agentmail_reply_to_message agentmail_forward_message agentmail_send_draft',
)
const RAILWAY_GATED = of('railway', 'railway_reveal_variables railway_redeploy')

export const CONNECTORS: readonly ConnectorRow[] = [
  {
    slug: 'shopify',
    title: 'Shopify',
    read: of('shopify', 'shopify_shop_info shopify_search_products shopify_recent_orders'),
    other: SHOPIFY_GRAPHQL,
    never: SHOPIFY_GRAPHQL,
    says: 'reads freely; mutations need `SHOPIFY_ALLOW_WRITES` and an approval',
  },
  {
    slug: 'dataforseo',
    title: 'DataForSEO',
    read: [
      ...of('dataforseo', 'dataforseo_account dataforseo_keyword_ideas dataforseo_search_volume'),
      ...of('dataforseo', 'dataforseo_keyword_overview dataforseo_ranked_keywords dataforseo_serp_organic'),
      ...of('dataforseo', 'dataforseo_competitors dataforseo_page_audit dataforseo_keyword_difficulty'),
      ...of('dataforseo', 'dataforseo_search_intent dataforseo_rank_history dataforseo_trends'),
      ...of('dataforseo', 'seo_page_opportunities'),
    ],
    other: [],
    bills: true,
    never: [],
    says: 'Every call bills; calls above a threshold ask a person',
  },
  {
    slug: 'firecrawl',
    title: 'Firecrawl',
    read: of('firecrawl', 'firecrawl_account firecrawl_scrape firecrawl_search firecrawl_map firecrawl_crawl'),
    other: [],
    bills: true,
    never: [],
    says: 'Every call bills credits; calls above a threshold ask a person',
  },
  {
    slug: 'googleads',
    title: 'Google Ads',
    read: [
      ...of('googleads', 'googleads_accounts googleads_report googleads_campaigns googleads_search_terms'),
      ...of('googleads', 'googleads_account_hierarchy googleads_compare_periods googleads_summarize'),
      ...of('googleads', 'googleads_search_term_audit'),
    ],
    other: [],
    never: [],
    says: 'All eight tools',
  },
  {
    slug: 'searchconsole',
    title: 'Search Console',
    read: [
      ...of('searchconsole', 'searchconsole_properties searchconsole_totals searchconsole_queries'),
      ...of('searchconsole', 'searchconsole_pages searchconsole_breakdown searchconsole_inspect_url'),
    ],
    other: [],
    never: [],
    says: 'All six tools',
  },
  {
    slug: 'analytics',
    title: 'Google Analytics',
    read: [
      ...of('analytics', 'analytics_properties analytics_use_property analytics_overview analytics_trend'),
      ...of('analytics', 'analytics_traffic_sources analytics_landing_pages analytics_report'),
    ],
    other: [],
    never: of('analytics', 'analytics_use_property'),
    says: 'Six tools',
  },
  {
    slug: 'sheets',
    title: 'Google Sheets',
    read: of('sheets', 'sheets_list'),
    other: SHEETS_WRITES,
    never: SHEETS_WRITES,
    says: '(each asks a person)',
  },
  {
    slug: 'microsoftads',
    title: 'Microsoft Ads',
    read: [
      ...of('microsoftads', 'microsoftads_accounts microsoftads_campaigns microsoftads_performance_report'),
      ...of('microsoftads', 'microsoftads_report_fetch'),
    ],
    other: [],
    never: [],
    says: 'All four tools, when the deployment offers Microsoft Ads',
  },
  {
    slug: 'figma',
    title: 'Figma',
    read: [
      ...of('figma', 'figma_whoami figma_file_outline figma_read_nodes figma_export_images figma_comments'),
      ...of('figma', 'figma_components_styles figma_team_projects figma_project_files'),
    ],
    other: [],
    never: [],
    says: 'All eight tools, when the deployment offers Figma (Nango configured)',
  },
  {
    slug: 'github',
    title: 'GitHub',
    read: [
      ...of('github', 'github_read_file github_list_path github_list_branches github_list_issues'),
      ...of('github', 'github_read_issue github_list_pull_requests github_read_pull_request'),
    ],
    other: GITHUB_WRITES,
    never: GITHUB_WRITES,
    says: '(need `GITHUB_ALLOW_WRITES` and an approval each)',
  },
  {
    slug: 'agentmail',
    title: 'AgentMail',
    read: [
      ...of('agentmail', 'agentmail_list_threads agentmail_search_threads agentmail_get_thread'),
      ...of('agentmail', 'agentmail_list_messages agentmail_search_messages agentmail_get_message'),
      ...of('agentmail', 'agentmail_get_attachment agentmail_whoami agentmail_list_drafts agentmail_get_draft'),
    ],
    other: [...MAIL_DRAFT, ...MAIL_SENDS],
    never: [...MAIL_DRAFT, ...MAIL_SENDS],
    says: '(need `AGENTMAIL_ALLOW_SENDS` and an approval each)',
  },
  {
    slug: 'cloudflare',
    title: 'Cloudflare',
    read: of('cloudflare', 'docs search'),
    other: of('cloudflare', 'execute'),
    never: of('cloudflare', 'docs search execute'),
    says: '(asks a person on every call; absent when approvals are off)',
  },
  {
    slug: 'contentsquare',
    title: 'Contentsquare',
    read: of('contentsquare', '*'),
    other: [],
    never: of('contentsquare', '*'),
    says: 'No gate in this code; see [Connections](/connections)',
  },
  {
    slug: 'railway',
    title: 'Railway',
    read: [
      ...of('railway', 'railway_workspaces railway_project railway_deployments railway_variable_names railway_logs'),
    ],
    other: RAILWAY_GATED,
    never: RAILWAY_GATED,
    says: '(each needs its own switch and an approval)',
  },
  {
    slug: 'tailscale',
    title: 'Tailscale',
    read: of('tailscale', 'tailscale_devices tailscale_device tailscale_users tailscale_policy tailscale_dns'),
    other: [],
    never: [],
    says: 'None; every token is requested with read scopes only',
  },
]

/** The row of the read table that no person's session registers. */
export const WRITER = [
  ...of('writer', 'writer_read_voice_guide writer_save_voice_guide writer_page_content writer_read_brief'),
  ...of('writer', 'writer_save_draft'),
]
export const JOINT = {
  tool: 'mcp__dataforseo__seo_page_opportunities',
  reads: ['dataforseo', 'searchconsole', 'shopify'],
}

/** "SEO brief tools". */
export const BRIEFS = [
  { tool: 'mcp__seo__seo_save_brief', given: 'The grant names the `seo-method` skill', depth: undefined },
  {
    tool: 'mcp__seo__seo_hand_off_brief',
    given: "As above, and the profile's `maxDelegationDepth` is above 0",
    depth: 1,
  },
]

/** "Allowance". */
export const ALLOWANCE = {
  firecrawl: ['perRunCredits', 'perDayCredits'],
  dataforseo: ['perRunUsd', 'perDayUsd'],
}

/** "Roles at a glance". `connectors` in the words of a role file; `asks` is the seed's last column. */
export const ROLES = [
  {
    role: 'person-chat',
    title: 'Person chat',
    builtins: BUILTINS,
    holds: [NOTES, STANDING, PROJECT, GOALS, TRANSCRIPTS, SKILLS, TEAM, SANDBOX, BROWSER, LOGINS, EGRESS].flat(),
    connectors: 'every',
    asks: 'Yes, per gated call',
    limits: {},
  },
  {
    role: 'inbound-email',
    title: 'Inbound email turn',
    builtins: [],
    holds: [
      ...of('agentmail', 'agentmail_list_threads agentmail_search_threads agentmail_get_thread'),
      ...of('agentmail', 'agentmail_list_messages agentmail_search_messages agentmail_get_message'),
      ...of('agentmail', 'agentmail_get_attachment agentmail_whoami agentmail_create_draft'),
      ...of('agentmail', 'agentmail_list_drafts agentmail_get_draft'),
    ],
    connectors: 'none',
    asks: 'No one to ask',
    limits: { runUsd: 0.5, turns: 8 },
  },
  {
    role: 'coworker',
    title: 'Coworker run',
    builtins: BUILTINS,
    holds: [...NOTES, ...PROJECT.slice(0, 4)],
    connectors: 'none',
    asks: 'No one to ask',
    limits: { attempts: 1 },
  },
  {
    role: 'specialist',
    title: 'Specialist coworker run',
    builtins: BUILTINS,
    holds: [...NOTES, ...PROJECT.slice(0, 4)],
    withSkills: SKILLS,
    connectors: 'granted',
    asks: 'No one to ask',
    limits: { attempts: 1 },
  },
  {
    role: 'goal-agent',
    title: 'Goal agent step',
    builtins: READ_ONLY_BUILTINS,
    holds: of('project', 'project_list project_read project_write'),
    connectors: 'granted',
    asks: 'No one to ask',
    limits: { runUsd: 0.5, turns: 10, concurrentRuns: 1, delegationDepth: 0, attempts: 2 },
  },
  {
    role: 'goal-reviewer',
    title: 'Goal reviewer',
    builtins: [],
    holds: [],
    connectors: 'none',
    asks: 'Not applicable',
    limits: { runUsd: 0.1, turns: 2, concurrentRuns: 1, attempts: 1, delegationDepth: 0 },
  },
] as const

/** "Read-only route", the column "Kept". */
export const READ_ONLY_KEEPS = [...READ_ONLY_BUILTINS, ...TRANSCRIPTS, ...SKILLS, ...TEAM]

/** "Presets". */
const LIST_READ = of('project', 'project_list project_read')
const LIST_READ_WRITE = [...LIST_READ, ...of('project', 'project_write')]
export const PRESETS = [
  {
    title: 'Researcher',
    tools: LIST_READ_WRITE,
    connectors: ['firecrawl'],
    skills: [],
    allowance: { firecrawl: { perRunCredits: 25, perDayCredits: 100 } },
  },
  { title: 'Data analyst', tools: LIST_READ_WRITE, connectors: [], skills: [], allowance: {} },
  { title: 'Writer', tools: LIST_READ_WRITE, connectors: [], skills: [], allowance: {} },
  { title: 'Store assistant', tools: LIST_READ_WRITE, connectors: ['shopify'], skills: [], allowance: {} },
  {
    title: 'Marketing assistant',
    tools: LIST_READ_WRITE,
    connectors: ['dataforseo', 'googleads', 'analytics', 'searchconsole'],
    skills: [],
    allowance: {},
  },
  {
    title: 'Paid traffic manager',
    tools: LIST_READ_WRITE,
    connectors: ['googleads', 'analytics', 'searchconsole', 'shopify'],
    skills: ['ppc-method', 'ppc-honesty'],
    allowance: {},
  },
  {
    title: 'SEO analyst',
    tools: [...LIST_READ, ...BRIEFS.map(({ tool }) => tool)],
    connectors: ['dataforseo', 'searchconsole', 'analytics', 'shopify'],
    skills: ['seo-method'],
    dataSkillsOf: ['seo-method'],
    allowance: { dataforseo: { perRunUsd: 1, perDayUsd: 3 } },
    depth: 1,
  },
  {
    title: 'Content writer',
    tools: [...LIST_READ, ...WRITER],
    connectors: ['shopify'],
    skills: ['voice-guide', 'product-content', 'product-page-seo', 'humanizer'],
    allowance: {},
  },
]

/** "Operator switches": the column "Counts as on", and texts that are on and off by it. */
export const SWITCHES: readonly (readonly [
  name: string,
  says: string,
  on: readonly string[],
  off: readonly string[],
])[] = [
  ['REQUIRE_WRITE_APPROVAL', 'On unless `false`, `0` or `no`', ['', 'true', 'False', 'x'], ['false', '0', 'no']],
  ['SHOPIFY_ALLOW_WRITES', '`true`, `1` or `yes`', ['true', '1', 'yes'], ['', 'TRUE', 'on', 'y', ' true']],
  ['GITHUB_ALLOW_WRITES', '`true`, `1` or `yes`', ['true', '1', 'yes'], ['', 'True', 'on']],
  ['AGENTMAIL_ALLOW_SENDS', 'Exactly `true`', ['true'], ['', '1', 'yes', 'True', 'true ']],
  ['RAILWAY_ALLOW_VARIABLE_VALUES', '`true`, `1` or `yes`', ['true', '1', 'yes'], ['', 'enabled']],
  ['RAILWAY_ALLOW_REDEPLOY', '`true`, `1` or `yes`', ['true', '1', 'yes'], ['', 'enabled']],
  ['SANDBOX_ALLOW_BROWSER', 'Exactly `true`', ['true'], ['', '1', 'yes', 'TRUE']],
  ['BROWSERBASE_PERSISTENT_LOGINS', 'Exactly `true`', ['true'], ['', '1', 'yes', 'TRUE']],
  [
    'SANDBOX_EGRESS',
    '`open`, any case; anything else is the allowlist',
    ['open', 'OPEN', 'Open'],
    ['', 'opne', 'true', 'allowlist'],
  ],
  ['HARNESS_LOOP_ENABLED', '`1` or `true`', ['1', 'true'], ['', 'yes', 'True']],
  ['HARNESS_HERMES_ENABLED', '`1` or `true`', ['1', 'true'], ['', 'yes', 'True']],
  ['HARNESS_MCP_BRIDGE_ENABLED', '`1` or `true`', ['1', 'true'], ['', 'yes', 'True']],
  ['AGENTMAIL_WEBHOOK_URL_SECRET', 'Any value', ['x', '0', 'false'], ['']],
]
/** The two switches that are no yes or no. */
export const OTHER_SWITCHES = [
  ['APPROVAL_TIMEOUT_MS', 'Default 300000 (five minutes); `0` denies at once'],
  ['SANDBOX_EGRESS_ALLOWLIST', 'Any non-empty value'],
] as const

/** "What is never given, to any role". */
export const NOT_BUILT: Record<string, string> = {
  shopify: 'Nothing beyond the single Admin GraphQL tool; mutations through it are gated',
  googleads: 'Any mutation: bids, budgets, campaign status, recommendations, assets, account and user changes, billing',
  microsoftads:
    'Budgets, bids, status changes, create and delete, bulk upload, extensions and assets, users and billing; the search query report',
  figma: 'Posting or deleting comments and reactions; variables; dev resources and webhooks; library analytics',
  searchconsole: 'Sitemap submit and delete; paging walks',
  analytics: 'Admin writes; user-level exports; realtime, pivot and funnel reports',
  sheets: 'Reading files this app did not create; delete; sharing; overwriting cells; formatting',
  github:
    'Merging; force-push and history rewrites; deletes; repository settings; collaborators; branch protection; secrets; triggering workflows; releases; search; GraphQL',
  agentmail: 'Deleting inboxes, threads, drafts or messages; creating or changing inboxes; switching organisation',
  firecrawl: 'Browser interaction, monitors, agent jobs, parse and extract, research papers',
  railway:
    'Variable writes, service and project changes, domains, volumes, deploy controls other than redeploy, service settings, members and tokens, networking',
  tailscale:
    "Authorizing, tagging or removing devices; auth keys; policy, DNS and settings edits; a worker's sandbox joining the tailnet",
  browser: 'Click, type, fill, evaluate, download, PDF, cookies, persistent sessions',
}

/** 'Where "absent beats refusing" has exceptions': registered, and refusing without an approval channel. */
export const STAYS_AND_REFUSES = [...MAIL_SENDS, ...GITHUB_WRITES, ...SHEETS_WRITES, ...SHOPIFY_GRAPHQL]
/** Of those, the ones that also stay where their own switch is off. */
export const REFUSES_WHEN_OFF = [...GITHUB_WRITES, ...SHOPIFY_GRAPHQL]

/** "Measured". */
export const MEASURED: readonly (readonly [what: string, ...records: string[]])[] = [
  [
    'An empty tool list sends zero tool schemas (local CLI 2.1.261, 2026-09-05)',
    'GOALS_CAPTURED.empty_tools_on_the_wire',
    'CLAUDE_CODE_CAPTURED',
  ],
  [
    "A specialist's Firecrawl allowance charged a scrape and refused an over-allowance crawl with nothing spent (2026-09-23)",
    'ALLOWANCE_CAPTURED',
    'SPECIALIST_CAPTURED',
  ],
  ['One owner turn on the loop harness, with four MCP tools on the wire (2026-10-10)', 'LOOP_CAPTURED'],
  ['The inbound email instruction to draft, not send, was followed on two messages (2026-08-25)', 'AGENTMAIL_CAPTURED'],
  [
    'The E2B sandbox runs as an ordinary user (2026-08-22), and browsing worked through the deployed app on the promoted browser template (2026-08-26)',
    'BROWSER_CAPTURED',
  ],
  ["Cloudflare's OAuth discovery, registration and authorisation steps (2026-09-22)", 'MCP_OAUTH_CAPTURED'],
  [
    'The sandbox allowlist: a listed host answered, unlisted hosts and a public IP were cut at TLS, `updateNetwork` widened a running sandbox in 55ms, and `169.254.169.254` still answered HTTP 401 (2026-10-11)',
    'SANDBOX_EGRESS_CAPTURED',
  ],
  [
    "The root link-local rule at sandbox start refused `169.254.169.254` (`401` to `curl: (7)`) with the shell, files and `updateNetwork` still working, and the agent's user removed it with passwordless `sudo` (2026-10-12)",
    'SANDBOX_EGRESS_CAPTURED',
  ],
  [
    "With the sandbox user's sudo taken away at start, `sudo -n`, `sudo -S`, `su` and tokenless calls to envd all failed and the link-local rule held, while `npm install`, `pip install --user` and `updateNetwork` still worked (2026-10-12, base template only)",
    'SANDBOX_EGRESS_CAPTURED.sudo_removed_live_2026_10_12',
  ],
  [
    'With the start-step lock, the root-run files the sandbox user could write went from 2 (`/usr/bin/envd`, `/etc/inittab`, both mode 777) to 0, appends to both were refused, and `npm install -g` and `pip install --user` still worked (2026-10-12, base template only)',
    'SANDBOX_EGRESS_CAPTURED.root_run_lock_live_2026_10_12',
  ],
]

/** "Reasoned, never exercised". */
export const REASONED: readonly (readonly [what: string, ...records: string[]])[] = [
  ['A goal reviewer run on the deployment', 'GOALS_UNVERIFIED.zero_tool_worker'],
  [
    'A goal agent step, with or without a grant',
    'GOALS_UNVERIFIED.agent_step_run',
    'GOALS_UNVERIFIED.agent_step_with_grant',
  ],
  [
    'A DataForSEO allowance, and the per-day cap refusing a start',
    'ALLOWANCE_UNVERIFIED.dataforseo_absent_cost',
    'ALLOWANCE_UNVERIFIED.day_cap',
  ],
  ['Google scope narrowing on a real grant', 'SPECIALIST_UNVERIFIED.google_narrowing_live'],
  ['Whether a denied call is fully prevented on the loop harness', 'LOOP_UNVERIFIED.denial_prevents_execution'],
  ['Anything on the Hermes harness or the MCP bridge', 'HERMES_UNVERIFIED', 'BRIDGE_UNVERIFIED'],
  ['Railway calls with a real credential', 'RAILWAY_UNVERIFIED.live_calls'],
  ['Tailscale calls with a real OAuth client', 'TAILSCALE_UNVERIFIED.live_calls'],
  [
    'The narrowed inbound email session on a live delivery (built 2026-10-11)',
    'AGENTMAIL_UNVERIFIED.inbound_narrow_session',
  ],
  [
    'What the CLI does with `settingSources: []` (no settings files, no CLAUDE.md)',
    'CLAUDE_CODE_UNVERIFIED.setting_sources_empty',
  ],
  [
    'The link-local rule and the sudo removal on the browser template, where the agent is root',
    'SANDBOX_EGRESS_UNVERIFIED.link_local_block_browser_template',
  ],
  [
    'What that start step leaves open: `/usr/local`, `/opt`, setuid programs, the browser template',
    'SANDBOX_EGRESS_UNVERIFIED.root_run_lock_gaps',
  ],
  ['A Cloudflare MCP handshake', 'CLOUDFLARE_UNVERIFIED.live_handshake'],
  [
    "The DNS channel, writes to listed hosts with a caller's own token, and SNI/Host mismatch on shared CDNs",
    'SANDBOX_EGRESS_UNVERIFIED',
  ],
  ['A chat turn using the Allow once card end to end on the deployment'],
  [
    'A live run of the SEO analyst, paid traffic and Content writer methods',
    'SEO_UNVERIFIED.no_live_run',
    'PPC_UNVERIFIED.no_live_run',
  ],
]

/** Every `mcp__` name of the tables above. */
export const ALL_NAMES = [
  ...PLATFORM.flatMap(({ tools }) => tools),
  ...ENVIRONMENT.flatMap(({ tools }) => tools),
  ...CONNECTORS.flatMap(({ read, other }) => [...read, ...other]),
  ...WRITER,
  ...BRIEFS.map(({ tool }) => tool),
]
