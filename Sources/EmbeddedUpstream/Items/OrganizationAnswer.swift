import JSON

extension Organization {
    /// The organisation itself, as its owner is told.
    func write(to object: inout JSON.ObjectWriter) {
        object.add("id", id)
        object.add("name", name)
        object.add("businessName", name)
        object.add("billingEmail", billingEmail)
        object.add("hasPublicAndPrivateKeys", publicKey != nil)
        object.add("planType", 6)
        object.add("maxStorageGb", 32_767)
        for name in Self.unknown { object.add(name, String?.none) }
        for name in Self.offered { object.add(name, true) }
        for name in Self.denied { object.add(name, false) }
        object.add("object", "organization")
    }

    private static let unknown = [
        "businessAddress1", "businessAddress2", "businessAddress3", "businessCountry",
        "businessTaxNumber", "maxAutoscaleSeats", "maxAutoscaleSmSeats",
        "maxAutoscaleSmServiceAccounts", "maxCollections", "seats", "secretsManagerPlan", "smSeats",
        "smServiceAccounts",
    ]
    private static let offered = [
        "allowAdminAccessToAllCollectionItems", "limitCollectionCreation",
        "limitCollectionDeletion", "selfHost", "use2fa", "useApi", "useCustomPermissions",
        "usePasswordManager", "usePolicies", "useTotp", "usersGetPremium",
    ]
    private static let denied = [
        "useDirectory", "useEvents", "useGroups", "useKeyConnector", "useResetPassword", "useScim",
        "useSecretsManager", "useSso",
    ]
}

extension World {
    /// The organisation as one of its members is told. Official clients want all of these members.
    func membership(_ userID: String, in id: String) -> JSON.Raw? {
        guard let organization = organizations[id], let member = organization.members[userID]
        else { return nil }
        return .object(capacity: 2_048) { object in
            object.add("id", id)
            object.add("userId", userID)
            object.add("organizationUserId", member.id)
            object.add("name", organization.name)
            object.add("key", member.key)
            object.add("status", member.status)
            object.add("type", member.type)
            object.add("hasPublicAndPrivateKeys", organization.publicKey != nil)
            object.add("seats", 20)
            object.add("maxStorageGb", 32_767)
            object.add("productTierType", 3)
            for name in MembershipMembers.unknown { object.add(name, String?.none) }
            for name in MembershipMembers.offered { object.add(name, true) }
            for name in MembershipMembers.denied { object.add(name, false) }
            object.object("permissions") { permissions in
                for name in MembershipMembers.permissions { permissions.add(name, false) }
            }
            object.add("object", "profileOrganization")
        }
    }
}

private enum MembershipMembers {
    static let unknown = [
        "familySponsorshipFriendlyName", "familySponsorshipLastSyncDate",
        "familySponsorshipToDelete", "familySponsorshipValidUntil", "identifier", "keyConnectorUrl",
        "maxCollections", "providerId", "providerName", "providerType",
    ]
    static let offered = [
        "allowAdminAccessToAllCollectionItems", "enabled", "limitCollectionDeletion", "selfHost",
        "use2fa", "useApi", "useCustomPermissions", "usePasswordManager", "usePolicies", "useTotp",
        "usersGetPremium",
    ]
    static let denied = [
        "accessSecretsManager", "familySponsorshipAvailable", "keyConnectorEnabled",
        "limitCollectionCreation", "limitItemDeletion", "resetPasswordEnrolled", "ssoBound",
        "useActivateAutofillPolicy", "useAdminSponsoredFamilies", "useDirectory", "useEvents",
        "useGroups", "useKeyConnector", "useResetPassword", "useRiskInsights", "useScim",
        "useSecretsManager", "useSso", "userIsClaimedByOrganization", "userIsManagedByOrganization",
    ]
    static let permissions = [
        "accessEventLogs", "accessImportExport", "accessReports", "createNewCollections",
        "deleteAnyCollection", "editAnyCollection", "manageGroups", "managePolicies",
        "manageResetPassword", "manageScim", "manageSso", "manageUsers",
    ]
}
