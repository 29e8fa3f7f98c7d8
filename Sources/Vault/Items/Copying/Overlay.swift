import JSON

extension Cipher {
    /// As its owner sees it while wishes about it are pending: under the id by which it is known here,
    /// in the trash or out of it, and adjusted.
    ///
    /// - Parameter moment: When that was wished; stands for the dates that upstream will give.
    public func overlaid(
        id: String,
        trash: Intent.TrashWish?,
        _ adjustments: Adjustments,
        at moment: Moment
    ) -> Cipher {
        guard self.id != id || trash != nil || adjustments != .none else { return self }
        let stamp = JSON.Raw(DateText.stamp(moment))
        var edit = JSON.Edit(document)
        if self.id != id { edit.put(JSON.Raw(id), at: "id") }
        switch trash {
        case .trashed where !isInTrash: edit.put(stamp, at: "deletedDate")
        case .restored where isInTrash: edit.put(.null, at: "deletedDate")
        case .trashed, .restored, nil: break
        }
        switch adjustments.isArchived {
        case true? where !isArchived: edit.put(stamp, at: "archivedDate")
        case false? where isArchived: edit.put(.null, at: "archivedDate")
        case true?, false?, nil: break
        }
        switch adjustments.folder {
        case .id(let folderID)?: edit.put(JSON.Raw(folderID), at: "folderId")
        case Adjustments.Folder.none?: edit.put(.null, at: "folderId")
        case nil: break
        }
        if let isFavourite = adjustments.isFavourite {
            edit.put(JSON.Raw(isFavourite), at: "favorite")
        }
        return Cipher(edit)
    }
}
